// SPDX-License-Identifier: MIT
#include "recover/phase_messages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "core/lapack.hpp"
#include "core/sums.hpp"
#include "recover/phase_prior.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr int kMostSteps = 400;
constexpr double kTarget = 1e-3;  // amplitude residual: the polish takes over
// Share of the new message: undamped messages oscillate, more so where W has orthogonal columns.
constexpr double kNew = 0.8, kNewOrthogonal = 0.5;
constexpr double kStartSize = 0.1;  // of x_0 against the measured size of x
constexpr double kLeastGain = 0.02;
constexpr Index kLargestGram = 2048;
constexpr Index kBlock = 4096;

double polynomial(double t, std::initializer_list<double> highest_first) {
  double sum = 0;
  for (const double c : highest_first) sum = sum * t + c;
  return sum;
}

// z given |z| = a and z ~ N(omega, variance): its mean is share * omega / |omega| * a, and its
// variance a^2 spread.
struct AmplitudeMoments {
  double share, spread;
};

template <typename Scalar>
AmplitudeMoments amplitude_moments(double a, double size, double variance) {
  if (!kIsComplex<Scalar>) {
    const double share = std::tanh(a * size / variance);
    return {share, 1 - share * share};
  }
  // 1 - (I_1 / I_0)^2 = 1/k + O(1/k^3)
  constexpr double kLarge = 50;
  const double k = 2 * a * size / variance;
  const double share = bessel_ratio(k);
  return {share, k > kLarge ? 1 / k : 1 - share * share};
}

// What all iterations have: the rows with unit length, y = |w_i x|^2 / |w_i|^2 in units of its
// mean, so that x_j ~ N(0, 1), and the best x so far.
template <typename Scalar>
class MessagePassing {
 public:
  using Real = RealOf<Scalar>;

  MessagePassing(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                 const FitMonitor& monitor)
      : op_(op),
        b_(b),
        monitor_(monitor),
        squares_(op.squared_rows(Reals<Scalar>::Ones(op.rows())).template cast<double>()) {
    const Index n = b.size();
    amplitudes_.resize(n);
    for (Index i = 0; i < n; ++i)
      amplitudes_(i) = std::sqrt(squares_(i) > 0 ? std::max<double>(b(i), 0) / squares_(i) : 0);
    unit_ =
        std::sqrt(amplitudes_.squaredNorm() / static_cast<double>((squares_.array() > 0).count()));
    amplitudes_ /= unit_;
    weights_ = (squares_.array() > 0).select(unit_ * squares_.cwiseSqrt(), 0);
    best_ = Vector<Scalar>::Zero(op.rows());
    norm_ = std::sqrt(weights_.cwiseProduct(amplitudes_).squaredNorm());
  }

  Vector<Scalar> random_start(std::uint64_t seed) const {
    Vector<Scalar> x(op_.rows());
    Random(seed, kStreamInitialFactors).fill_normal(x);
    return static_cast<Real>(kStartSize) * x;
  }

  // z = W x with unit rows.
  void project(const Vector<Scalar>& x, Vector<Scalar>& z) {
    op_.project(as_rows(x), fields_);
    z.resize(fields_.rows());
    for (Index i = 0; i < z.size(); ++i) z(i) = fields_(i, 0) * inverse_length(i);
  }

  // x = W^* z with unit rows.
  void back_project(const Vector<Scalar>& z, Vector<Scalar>& x) {
    fields_.resize(z.size(), 1);
    for (Index i = 0; i < z.size(); ++i) fields_(i, 0) = z(i) * inverse_length(i);
    back_.resize(op_.rows(), 1);
    op_.back_project(fields_, back_);
    x = back_.col(0);
  }

  // Keeps x where it is the best; false to end.
  bool look(const Vector<Scalar>& x, const Vector<Scalar>& z, double variance) {
    double squared = 0, intensity = 0;
    for (Index i = 0; i < z.size(); ++i) {
      const double size = std::abs(z(i)), a = amplitudes_(i), w = weights_(i);
      squared += w * w * (size - a) * (size - a);
      intensity += std::pow(w * w * (size * size - a * a), 2);
    }
    const double residual = std::sqrt(squared) / norm_;
    if (!std::isfinite(residual)) return false;
    if (residual < best_residual_) {
      best_residual_ = residual;
      best_ = x;
    }
    const FitStep step{0.5 * intensity, variance, 1, unit_ * static_cast<double>(x.norm())};
    return residual > kTarget && (!monitor_ || monitor_(step));
  }

  // Means and variances of z given |z| = a and z ~ N(omega, variance).
  void inform(const Vector<Scalar>& omega, double variance, Vector<Scalar>& mean,
              Vector<double>& spread) const {
    mean.resize(omega.size());
    spread.resize(omega.size());
    parallel_blocks(omega.size(), kBlock, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const double size = std::max<double>(std::abs(omega(i)), 1e-30), a = amplitudes_(i);
        const AmplitudeMoments moments = amplitude_moments<Scalar>(a, size, variance);
        mean(i) = omega(i) * static_cast<Real>(moments.share * a / size);
        spread(i) = a * a * moments.spread;
      }
    });
  }

  Vector<Scalar> best() const { return static_cast<Real>(unit_) * best_; }
  const IntensityOperator<Scalar>& op() const { return op_; }
  const Vector<double>& squares() const { return squares_; }
  double measurements() const { return static_cast<double>(b_.size()); }
  double unknowns() const { return static_cast<double>(op_.rows()); }

 private:
  static Eigen::Map<const RowMatrix<Scalar>> as_rows(const Vector<Scalar>& x) {
    return {x.data(), x.size(), 1};
  }
  Real inverse_length(Index i) const {
    return weights_(i) > 0 ? static_cast<Real>(unit_ / weights_(i)) : Real(0);
  }

  const IntensityOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  const FitMonitor& monitor_;
  Vector<double> squares_, amplitudes_, weights_;
  double unit_ = 1, norm_ = 1;
  RowMatrix<Scalar> fields_, back_;
  Vector<Scalar> best_;
  double best_residual_ = std::numeric_limits<double>::infinity();
};

// omega = W x - V g;  g = (E z - omega) / V, S = n / sum (1 - Var z / V) / V;
// x = E[x | r] and V its variance, r = x + S W^* g.
template <typename Scalar>
void pass_scalar_messages(MessagePassing<Scalar>& passing, const PhasePrior& known,
                          Vector<Scalar> x) {
  using Real = RealOf<Scalar>;
  const double share = passing.op().has_diagonal_gram() ? kNewOrthogonal : kNew;
  const auto fresh = static_cast<Real>(share), old = static_cast<Real>(1 - share);
  const double smallest = 100 * kEpsilon<Scalar>;
  EntryPrior<Scalar> prior(known);
  Vector<Scalar> z, omega, mean, g, r, next;
  Vector<double> spread;
  double V = 1;
  for (int step = 0; step < kMostSteps; ++step) {
    passing.project(x, z);
    if (!passing.look(x, z, V)) return;
    omega = z;
    if (step > 0) omega -= static_cast<Real>(V) * g;
    passing.inform(omega, V, mean, spread);
    mean = (mean - omega) / static_cast<Real>(V);
    g = step > 0 ? Vector<Scalar>(fresh * mean + old * g) : mean;
    const double gain = (passing.measurements() - spread.sum() / V) / V / passing.unknowns();
    const double S = 1 / std::max(gain, kLeastGain);
    passing.back_project(g, r);
    r = x + static_cast<Real>(S) * r;
    const double variance = prior.estimate(r, S, next);
    x = fresh * next + old * x;
    V = std::max(smallest, share * variance + (1 - share) * V);
  }
}

// W^* W = Q diag(values) Q^* for unit rows; an empty Q stands for the identity.
template <typename Scalar>
struct Spectrum {
  Vector<double> values;
  Matrix<Scalar> Q;
};

template <typename Scalar>
Spectrum<Scalar> spectrum_of(const MessagePassing<Scalar>& passing) {
  using Wide = std::conditional_t<kIsComplex<Scalar>, std::complex<double>, double>;
  const IntensityOperator<Scalar>& op = passing.op();
  const Index p = op.rows();
  const Vector<double>& squares = passing.squares();
  const Reals<Scalar> weights =
      (squares.array() > 0).select(squares.cwiseInverse(), 0).template cast<RealOf<Scalar>>();
  if (op.has_diagonal_gram()) return {op.diagonal(weights).template cast<double>(), {}};
  RowMatrix<Scalar> fields, gram(p, p);
  op.project(RowMatrix<Scalar>::Identity(p, p), fields);
  scale_rows<Scalar>(weights, fields);
  op.back_project(fields, gram);
  Matrix<Wide> vectors = gram.template cast<Wide>();
  const Vector<double> values = lapack::eigen_in_place<Wide>(vectors, true);
  return {values.cwiseMax(0), vectors.template cast<Scalar>()};
}

// With z ~ N(omega, V1) the amplitudes give E z, Var z, and as a message of their own
// z ~ N(r, V2): 1/V2 = 1/Var - 1/V1, r/V2 = E/Var - omega/V1. With z = W x and x ~ N(0, 1) the
// message r gives E x = (W^*W / V2 + 1)^-1 W^* r / V2, and the next omega, V1 in the same way.
template <typename Scalar>
void pass_vector_messages(MessagePassing<Scalar>& passing, Vector<Scalar> x) {
  using Real = RealOf<Scalar>;
  const Spectrum<Scalar> spectrum = spectrum_of(passing);
  const bool turned = spectrum.Q.size() > 0;
  const double smallest = 100 * kEpsilon<Scalar>;
  Vector<Scalar> z, omega, mean, r;
  Vector<double> spread;
  double V1 = 1;
  passing.project(x, omega);
  for (int step = 0; step < kMostSteps; ++step) {
    passing.inform(omega, V1, mean, spread);
    const double var = std::clamp(spread.mean(), smallest * smallest, 0.999 * V1);
    const double V2 = 1 / (1 / var - 1 / V1);
    r = static_cast<Real>(V2 / var) * mean - static_cast<Real>(V2 / V1) * omega;
    passing.back_project(r, x);
    if (turned) x = (spectrum.Q.adjoint() * x).eval();
    const Vector<double> inverse = (spectrum.values.array() + V2).inverse();
    x = x.cwiseProduct(inverse.template cast<Scalar>());
    if (turned) x = (spectrum.Q * x).eval();
    passing.project(x, z);
    if (!passing.look(x, z, V1)) return;
    const double fitted = V2 * spectrum.values.dot(inverse) / passing.measurements();
    const double V = 1 / (1 / fitted - 1 / V2);
    z = static_cast<Real>(V / fitted) * z - static_cast<Real>(V / V2) * r;
    omega = static_cast<Real>(kNew) * z + static_cast<Real>(1 - kNew) * omega;
    V1 = std::max(kNew * V + (1 - kNew) * V1, smallest * smallest);
  }
}

}  // namespace

// Polynomials of Abramowitz and Stegun, 9.8.1 to 9.8.4; the asymptotic series where it is better.
double bessel_ratio(double k) {
  constexpr double kMiddle = 3.75, kLarge = 50;
  if (k > kLarge) return 1 - (1 + (1 + 1 / k) / (4 * k)) / (2 * k);
  if (k < kMiddle) {
    const double t = k * k / (kMiddle * kMiddle);
    return k *
           polynomial(
               t, {0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5}) /
           polynomial(t, {0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1});
  }
  const double t = kMiddle / k;
  return polynomial(t, {-0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555, 0.00163801,
                        -0.00362018, -0.03988024, 0.39894228}) /
         polynomial(t, {0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281, -0.00157565,
                        0.00225319, 0.01328592, 0.39894228});
}

template <typename Scalar>
bool has_vector_messages(const IntensityOperator<Scalar>& op) {
  return op.has_diagonal_gram() || op.rows() <= kLargestGram;
}

template <typename Scalar>
Vector<Scalar> pass_messages(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                             const MessageOptions& options, const FitMonitor& monitor) {
  MessagePassing<Scalar> passing(op, b, monitor);
  Vector<Scalar> x = passing.random_start(options.seed);
  if (options.prior.nonnegative) x = x.cwiseAbs().template cast<Scalar>();
  if (options.kind == Messages::kScalar)
    pass_scalar_messages(passing, options.prior, x);
  else
    pass_vector_messages(passing, x);
  return passing.best();
}

#define UDV_INSTANTIATE(Scalar)                                                                 \
  template bool has_vector_messages(const IntensityOperator<Scalar>&);                          \
  template Vector<Scalar> pass_messages(const IntensityOperator<Scalar>&, const Reals<Scalar>&, \
                                        const MessageOptions&, const FitMonitor&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

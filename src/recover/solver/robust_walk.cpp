// SPDX-License-Identifier: MIT
#include "recover/solver/robust_walk.hpp"

#include <algorithm>
#include <cmath>

#include "core/sums.hpp"
#include "recover/solver/line_repair.hpp"

namespace udv {
namespace {

constexpr double kOversampling = 2.4;          // entries per parameter at the largest rank
constexpr double kCauchyWidth = 2.385;         // 95 % efficiency for Gaussian noise
constexpr double kHomotopy[] = {0.05, 0.002};  // ridges, as those of the ordinary walk
constexpr int kReweightings = 40;
constexpr double kStalledScale = 0.98;
constexpr int kMaxMisses = 2;
constexpr double kSuspect = 5;        // deviations that are left out of the estimate of the noise
constexpr double kRepaired = 10;      // deviations that no noise reaches
constexpr double kFloorOfZero = 100;  // smallest threshold, in units of the zero residual
constexpr int kSigmaRounds = 3;

// Standard deviation of Gaussian numbers with this median modulus.
template <typename Real>
double median_deviation(const Vector<Real>& x) {
  Vector<Real> modulus = x.cwiseAbs();
  Real* const middle = modulus.data() + modulus.size() / 2;
  std::nth_element(modulus.data(), middle, modulus.data() + modulus.size());
  return 1.4826 * static_cast<double>(*middle);
}

// sqrt(w), w = 1 / (1 + (r / (c s))^2)
template <typename Real>
Vector<Real> cauchy_root(const Vector<Real>& residual, double scale) {
  const auto unit = static_cast<Real>(kCauchyWidth * scale);
  return (1 + (residual.array() / unit).square()).sqrt().inverse();
}

}  // namespace

FitOptions short_fit(double ridge, int max_outer, double small_gain, int patience) {
  FitOptions options;
  options.ridge = ridge;
  options.max_outer = max_outer;
  options.small_gain = small_gain;
  options.patience = patience;
  return options;
}

template <typename Scalar>
RobustWalk<Scalar>::RobustWalk(EntriesOperator<Scalar> op, Values b, const RankWalkOptions& options,
                               FitMonitor monitor, double noise_parameters)
    : op_(std::move(op)),
      b_(std::move(b)),
      options_(options),
      monitor_(std::move(monitor)),
      noise_parameters_(noise_parameters),
      n_(static_cast<double>(b_.size())),
      size_(median_deviation(b_)),
      zero_(std::max(options.rule.zero_residual, 80 * kEpsilon<Scalar>) * size_) {
  const Index smaller = std::min(op_.rows(), op_.cols());
  const Index limit = options.max_rank > 0 ? std::min(options.max_rank, smaller) : smaller;
  while (size_ > 0 && cap_ < limit && kOversampling * op_.degrees_of_freedom(cap_ + 1) <= n_)
    ++cap_;
}

template <typename Scalar>
void RobustWalk<Scalar>::fit(const Values& root, const FitOptions& options,
                             StackedFactors<Scalar>& Z) {
  const Values b = root.cwiseProduct(b_);
  const FitSummary summary = fit_factors(op_.rescaled(root), b, Z, options, monitor_);
  outer_ += summary.outer;
  inner_ += summary.inner;
  if (summary.stopped) throw Stopped();
}

template <typename Scalar>
Reals<Scalar> RobustWalk<Scalar>::residual_of(const StackedFactors<Scalar>& Z) const {
  Values residual;
  apply_stack(op_, Z, residual);
  residual -= b_;
  return residual;
}

template <typename Scalar>
double RobustWalk<Scalar>::threshold(double deviations, double sigma) const {
  return std::max(deviations * sigma, kFloorOfZero * zero_);
}

template <typename Scalar>
Reals<Scalar> RobustWalk<Scalar>::within(const Values& residual, double limit) {
  using Real = RealOf<Scalar>;
  return (residual.array().abs() <= static_cast<Real>(limit)).template cast<Real>();
}

template <typename Scalar>
double RobustWalk<Scalar>::score(double squares, double dof, Index outliers) const {
  const double smallest = 1e-6 * zero_ * zero_ * n_;
  const double D = std::min(dof + static_cast<double>(outliers) + noise_parameters_, 0.95 * n_);
  return n_ * std::log(std::max(squares, smallest) / n_) +
         options_.rule.penalty * D * n_ / (n_ - D);
}

template <typename Scalar>
JudgedFit<Scalar> RobustWalk<Scalar>::judged(StackedFactors<Scalar> Z) const {
  JudgedFit<Scalar> fit;
  fit.residual = residual_of(Z);
  const double dof = freedom(Z.rank());
  fit.sigma = median_deviation(fit.residual) * std::sqrt(n_ / (n_ - dof));
  double squares = squared_norm(fit.residual);
  // At rank 0 the residual is the signal, and nothing of it is an error.
  for (int round = 0; Z.rank() > 0 && round < kSigmaRounds; ++round) {
    const Values keep = within(fit.residual, threshold(kSuspect, fit.sigma));
    fit.outliers = (keep.array() == 0).count();
    squares = squared_norm(Values(keep.cwiseProduct(fit.residual)));
    const double left = n_ - static_cast<double>(fit.outliers) - dof;
    fit.sigma = std::sqrt(squares / std::max(1.0, left));
  }
  fit.score = score(squares, dof, fit.outliers);
  fit.Z = std::move(Z);
  return fit;
}

// Cauchy weights at a falling scale, until the median residual falls no longer.
template <typename Scalar>
StackedFactors<Scalar> RobustWalk<Scalar>::reweighted_fit(StackedFactors<Scalar> Z, double& scale) {
  int stalled = 0;
  Values residual = residual_of(Z);
  for (int round = 0; round < kReweightings && stalled < 2 && scale > zero_; ++round) {
    const Values root = cauchy_root(residual, scale);
    if (round == 0)
      for (const double share : kHomotopy)
        fit(root, short_fit(share * largest_ridge_, 6, 0.1, 1), Z);
    fit(root, short_fit(0, 2, 0.01, 2), Z);
    residual = residual_of(Z);
    const double now = median_deviation(residual);
    stalled = now > kStalledScale * scale ? stalled + 1 : 0;
    scale = std::min(scale, now);
  }
  return Z;
}

// Kept where the score falls.
template <typename Scalar>
void RobustWalk<Scalar>::repair(JudgedFit<Scalar>& so_far) {
  const double limit = threshold(kRepaired, so_far.sigma);
  StackedFactors<Scalar> Z = so_far.Z;
  if (!repair_lines(op_, b_, limit, options_.seed, Z)) return;
  fit(within(residual_of(Z), limit), short_fit(0, 10, 0.01, 2), Z);
  JudgedFit<Scalar> repaired = judged(std::move(Z));
  if (repaired.score < so_far.score) so_far = std::move(repaired);
}

template <typename Scalar>
JudgedFit<Scalar> RobustWalk<Scalar>::run() {
  double scale = size_;
  JudgedFit<Scalar> now =
      judged(StackedFactors<Scalar>(op_.rows(), op_.cols(), op_.symmetric(), 0));
  JudgedFit<Scalar> best = now;
  if (cap_ == 0) return best;
  const Values first = cauchy_root(b_, scale);
  largest_ridge_ =
      largest_ridge<Scalar>(op_.rescaled(first), first.cwiseProduct(b_), options_.seed);
  int misses = 0;
  while (now.Z.rank() < cap_ && misses < kMaxMisses && scale > zero_) {
    const Values root = cauchy_root(now.residual, scale);
    auto start = with_steepest_columns<Scalar>(op_.rescaled(root), root.cwiseProduct(now.residual),
                                               now.Z, 1, options_.seed);
    if (!start) break;
    now = judged(reweighted_fit(std::move(*start), scale));
    if (now.outliers > 0 && now.score < best.score) repair(now);
    scale = std::min(scale, median_deviation(now.residual));
    misses = now.score < best.score ? 0 : misses + 1;
    if (misses == 0) best = now;
    visited_.push_back(now.Z);
  }
  return best;
}

template class RobustWalk<float>;
template class RobustWalk<double>;

}  // namespace udv

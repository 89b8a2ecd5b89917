// SPDX-License-Identifier: MIT
#include "udv/recover/factors/factorization.hpp"

#include <algorithm>
#include <cmath>

#include "core/clones.hpp"
#include "core/columns.hpp"
#include "core/instantiate.hpp"
#include "core/projections.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "recover/device/gradient_model.hpp"
#include "recover/device/thin.hpp"
#include "recover/kernels/pack.hpp"
#include "recover/operators/measured_sums.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

// Scales a random factor to the wanted norm.
template <typename Rows>
void fill_with_norm(Rows&& rows, double norm, Random& random) {
  random.fill_normal(rows);
  using Real = typename std::decay_t<Rows>::RealScalar;
  rows *= static_cast<Real>(norm / rows.norm());
}

constexpr Index kNumbersPerBlock = 1 << 14;

// The products Re conj(z_ic) g_ic summed over some rows, those of real and imaginary parts apart:
// kParts sums for each column.
template <typename Scalar>
UDV_CLONED void add_products(const Scalar* z, const Scalar* g, Index rows, Index k,
                             RealOf<Scalar>* sums) {
  const Index width = kParts<Scalar> * k;
  const auto *a = reals_of(z), *b = reals_of(g);
  if (k == 1) {  // one chain of additions would wait for itself
    sums[0] += static_cast<RealOf<Scalar>>(dot(a, b, width * rows));
    return;
  }
  for (Index i = 0; i < rows; ++i, a += width, b += width) {
#pragma omp simd
    for (Index j = 0; j < width; ++j) sums[j] += a[j] * b[j];
  }
}

// g_ic *= weights_c over some rows.
template <typename Scalar>
UDV_CLONED void weigh_rows(const RealOf<Scalar>* weights, Index rows, Index k, Scalar* g) {
  for (Index i = 0; i < rows; ++i, g += k)
    for (Index c = 0; c < k; ++c) g[c] *= weights[c];
}

// For each of k columns the sum of what body(begin, end, sums) adds to kParts sums, over blocks of
// rows: the same bits for any number of threads.
template <typename Scalar, typename Body>
Reals<Scalar> sums_over_rows(Index rows, Index k, const Body& body) {
  const Index block = std::max<Index>(16, kNumbersPerBlock / std::max<Index>(k, 1));
  const Index blocks = (rows + block - 1) / block;
  Matrix<RealOf<Scalar>> partial = Matrix<RealOf<Scalar>>::Zero(kParts<Scalar> * k, blocks);
  parallel_blocks(rows, block, [&](Index begin, Index end) {
    body(begin, end, partial.col(begin / block).data());
  });
  const Reals<Scalar> parts = partial.rowwise().sum();
  return parts.reshaped(kParts<Scalar>, k).colwise().sum().transpose();
}

// Of rows without gaps between them.
template <typename Scalar>
Reals<Scalar> column_norms(const ConstRows<Scalar>& U) {
  const Index k = U.cols();
  return sums_over_rows<Scalar>(U.rows(), k,
                                [&](Index begin, Index end, RealOf<Scalar>* sums) {
                                  const Scalar* const rows = U.data() + begin * k;
                                  add_products(rows, rows, end - begin, k, sums);
                                })
      .cwiseSqrt();
}

// products and G of weigh_columns, for rows that fit into registers.
template <int K, typename Scalar>
UDV_CLONED void weigh_short_rows(const StackedFactors<Scalar>& Z, const Scalar* weights,
                                 RowMatrix<Scalar>& G, Scalar* products) {
  PackedRow<Scalar, K> sum, weight;
  sum.clear();
  weight.load(weights);
  const Scalar* const z = Z.Z.data();
  Scalar* const g = G.data();
  const Index of_u = Z.rows, all = G.rows();
  for (Index i = 0; i < of_u; ++i) sum.add_product(z + i * K, g + i * K);
  for (Index i = 0; i < all; ++i) weight.scale(g + i * K);
  sum.store(products);
}

// products = column sums of Re conj(U) o G over the rows of U, then G = G diag(weights).
template <typename Scalar>
void weigh_columns(const StackedFactors<Scalar>& Z, const Reals<Scalar>& weights,
                   RowMatrix<Scalar>& G, Reals<Scalar>& products) {
  const Index k = Z.rank();
  with_width<Scalar>(k, [&](auto fixed) {
    constexpr int K = decltype(fixed)::value;
    if constexpr (K > 0) {
      weigh_short_rows<K, Scalar>(Z, weights.data(), G, products.data());
    } else {
      const auto add_and_weigh = [&](Index begin, Index end, RealOf<Scalar>* sums) {
        const Index of_u = std::clamp<Index>(Z.rows - begin, 0, end - begin);
        add_products(Z.Z.data() + begin * k, G.data() + begin * k, of_u, k, sums);
        weigh_rows(weights.data(), end - begin, k, G.data() + begin * k);
      };
      products = sums_over_rows<Scalar>(G.rows(), k, add_and_weigh);
    }
  });
}

}  // namespace

template <typename Scalar>
Factorization<Scalar>::Factorization(const Method& method, Index rows, Index cols, Index columns,
                                     double init_norm, std::uint64_t seed)
    : method_(&method),
      Z_(rows, cols, method.symmetric, columns),
      d_(Reals<Scalar>::Ones(columns)) {
  Random random(seed, kStreamInitialFactors);
  fill_with_norm(Z_.U(), init_norm, random);
  if (!method.symmetric) fill_with_norm(Z_.V(), init_norm, random);
}

template <typename Scalar>
Factorization<Scalar>::Factorization(const Method& method, StackedFactors<Scalar> Z,
                                     Reals<Scalar> d)
    : method_(&method), Z_(std::move(Z)), d_(std::move(d)) {
  require(Z_.rank() == d_.size(), "factorization: U has ", Z_.rank(), " columns, d has ", d_.size(),
          " entries");
}

template <typename Scalar>
double Factorization<Scalar>::differentiate(const device::GradientModel<RealOf<Scalar>>& model,
                                            FactorGradient<Scalar>& gradient) const {
  using Real = RealOf<Scalar>;
  using ThinMatrix = device::DeviceMatrix<Real>;
  const device::Kernels<Real>& kernels = device::kernels<Real>();
  if (!away_) away_ = std::make_shared<ThinMatrix>(device::uploaded(Z_.Z));
  if (!gradient.away) gradient.away = std::make_shared<ThinMatrix>();
  const ThinMatrix& Z = *away_;
  ThinMatrix& G = *gradient.away;
  const double weight = Z_.symmetric ? 2 : 1;
  gradient.d.setZero(columns());
  if (!method_->diagonal) {
    const double squares = model.products(Z, {}, G);
    if (weight != 1) combine(weight, G, 0, G, G);
    return squares;
  }
  const Vector<double> d = d_.template cast<double>();
  const double squares = model.products(Z, d, G);
  Vector<double> products(Z.cols()), weights(Z.cols());
  kernels.column_products(Z.data(), G.data(), Z_.rows, Z.cols(), products.data());
  for (Index c = 0; c < Z.cols(); ++c) {
    gradient.d(c / kParts<Scalar>) += static_cast<Real>(products(c));
    weights(c) = weight * d(c / kParts<Scalar>);
  }
  kernels.scale_columns(G.data(), weights.data(), Z.rows(), Z.cols());
  return squares;
}

template <typename Scalar>
void Factorization<Scalar>::measure(const MeasurementOperator<Scalar>& op, Reals<Scalar>& y) const {
  stack();
  op.apply(Z_.U(), d_, Z_.V(), y);
}

template <typename Scalar>
double Factorization<Scalar>::squared_residual(const MeasurementOperator<Scalar>& op,
                                               const Reals<Scalar>& b, double scale) const {
  if (const auto model = op.gradient_model(b); model && columns() > 0) {
    if (!away_)
      away_ = std::make_shared<device::DeviceMatrix<RealOf<Scalar>>>(device::uploaded(Z_.Z));
    device::DeviceMatrix<RealOf<Scalar>> gradient;
    return scale * scale * model->products(*away_, d_.template cast<double>() / scale, gradient);
  }
  Reals<Scalar> residual;
  measure(op, residual);
  residual -= static_cast<RealOf<Scalar>>(scale) * b;
  return measured_square(op, residual);
}

template <typename Scalar>
void Factorization<Scalar>::differentiate(const MeasurementOperator<Scalar>& op,
                                          const Reals<Scalar>& b, Reals<Scalar>& residual,
                                          FactorGradient<Scalar>& gradient) const {
  stack();
  RowMatrix<Scalar>& G = gradient.Z;
  G.resize(Z_.Z.rows(), columns());
  op.residual_products(Z_.U(), d_, Z_.V(), b, residual, G.topRows(Z_.rows),
                       G.bottomRows(Z_.symmetric ? 0 : op.cols()));
  const RealOf<Scalar> weight = Z_.symmetric ? 2 : 1;
  gradient.d.setZero(columns());
  if (method_->diagonal)
    weigh_columns<Scalar>(Z_, weight * d_, G, gradient.d);
  else if (weight != 1)
    G *= weight;
}

template <typename Scalar>
void Factorization<Scalar>::take_step(const FactorGradient<Scalar>& gradient, double step) {
  const auto length = static_cast<RealOf<Scalar>>(step);
  if (gradient.away) {
    if (away_.use_count() > 1)
      away_ = std::make_shared<device::DeviceMatrix<RealOf<Scalar>>>(*away_);
    combine(1, *away_, -step, *gradient.away, *away_);
    moved_ = true;
  } else {
    stack();
    away_ = nullptr;
    add_scaled(-length, reals_of(gradient.Z.data()), reals_of(Z_.Z.data()),
               kParts<Scalar> * Z_.Z.size());
  }
  if (method_->diagonal) d_ -= length * gradient.d;
}

// The ball of some lines on the device.
template <typename Scalar>
bool Factorization<Scalar>::project_lines(Index first, Index count, double alpha) {
  using Real = RealOf<Scalar>;
  const double norm = away_->norm_of(first, count);
  if (!(norm > alpha)) return false;
  Real* const at = away_->line(first);
  device::kernels<Real>().combine(static_cast<Real>(alpha / norm), at, Real(0), at, at,
                                  count * away_->stride());
  return true;
}

template <typename Scalar>
bool Factorization<Scalar>::project(double alpha) {
  bool active = false;
  if (method_->diagonal && moved_) {
    active = project_lines(0, Z_.rows, alpha);
    if (!Z_.symmetric) active = project_lines(Z_.rows, away_->rows() - Z_.rows, alpha) || active;
    project_nonnegative(d_);
  } else if (method_->diagonal) {
    active = project_frobenius_ball(Z_.U(), alpha);
    if (!Z_.symmetric) active = project_frobenius_ball(Z_.V(), alpha) || active;
    project_nonnegative(d_);
  }
  return active;
}

template <typename Scalar>
double Factorization<Scalar>::norm_u() const {
  if (moved_) return away_->norm_of(0, Z_.rows);
  return Z_.U().norm();
}

template <typename Scalar>
Reals<Scalar> Factorization<Scalar>::norms_of_lines(Index first, Index count) const {
  const Reals<Scalar> norms = away_->column_norms(first, count);
  if constexpr (kIsComplex<Scalar>)
    return Eigen::Map<const Matrix<RealOf<Scalar>>>(norms.data(), 2, norms.size() / 2)
        .colwise()
        .norm()
        .transpose();
  return norms;
}

template <typename Scalar>
Reals<Scalar> Factorization<Scalar>::norms_of_u() const {
  if (moved_) return norms_of_lines(0, Z_.rows);
  return column_norms<Scalar>(Z_.U());
}

template <typename Scalar>
Reals<Scalar> Factorization<Scalar>::lengths() const {
  const Reals<Scalar> u = norms_of_u();
  if (Z_.symmetric) return u.cwiseProduct(u);
  return u.cwiseProduct(moved_ ? norms_of_lines(Z_.rows, away_->rows() - Z_.rows)
                               : column_norms<Scalar>(Z_.V()));
}

template <typename Scalar>
Vector<double> Factorization<Scalar>::magnitudes() const {
  return d_.cwiseProduct(lengths()).template cast<double>();
}

template <typename Scalar>
std::vector<Index> Factorization<Scalar>::inert_columns() const {
  // Norms of columns on a device are sums of squares in double precision.
  const auto size = [this](const auto& lines, Index first, Index count) -> Reals<Scalar> {
    if (moved_) return norms_of_lines(first, count);
    return lines.cwiseAbs().colwise().maxCoeff().transpose();
  };
  const Reals<Scalar> u = size(Z_.U(), 0, Z_.rows);
  const Reals<Scalar> v = Z_.symmetric ? u : size(Z_.V(), Z_.rows, Z_.Z.rows() - Z_.rows);
  std::vector<Index> inert;
  for (Index c = 0; c < columns(); ++c) {
    const int zeros = (u(c) == 0) + (v(c) == 0) + (d_(c) == 0);
    if (zeros >= 2) inert.push_back(c);
  }
  return inert;
}

template <typename Scalar>
void Factorization<Scalar>::remove(const std::vector<Index>& columns) {
  stack();
  away_ = nullptr;
  Z_.Z = without_columns(Z_.Z, columns);
  d_ = without_entries(d_, columns);
}

template <typename Scalar>
FactoredSvd<Scalar> Factorization<Scalar>::svd() const {
  stack();
  return Z_.symmetric ? factored_eigen<Scalar>(Z_.U(), d_)
                      : factored_svd<Scalar>(Z_.U(), d_, Z_.V());
}

template <typename Scalar>
Vector<double> Factorization<Scalar>::singular_values() const {
  if constexpr (std::is_same_v<Scalar, double>)
    if (away_ && !Z_.symmetric && columns() > 0)
      if (auto found = device::thin_svd(away_->part(0, Z_.rows), d_,
                                        away_->part(Z_.rows, away_->rows() - Z_.rows)))
        return found->s;
  Vector<double> s = svd().s.cwiseAbs();
  std::sort(s.begin(), s.end(), std::greater<>());
  return s;
}

template <typename Scalar>
StackedFactors<Scalar> Factorization<Scalar>::absorbed() const {
  StackedFactors<Scalar> result = stack();
  result.Z = result.Z * d_.cwiseSqrt().template cast<Scalar>().asDiagonal();
  return result;
}

#define UDV_INSTANTIATE(Scalar) template class Factorization<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

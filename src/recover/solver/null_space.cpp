// SPDX-License-Identifier: MIT
#include "recover/solver/null_space.hpp"

#include <algorithm>
#include <cmath>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/lapack.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr int kLookEvery = 4;       // steps between two looks at the movement
constexpr double kDamping = 1e-10;  // of the preconditioner, in units of the mean diagonal

// Relative residual of the normal equations: as good as rounding lets it be.
template <typename Scalar>
constexpr double kTight = std::max(1e-12, 100 * kEpsilon<Scalar>);

// The same model along some directions only.
template <typename Scalar>
class RestrictedModel final : public Linearization<Scalar> {
 public:
  RestrictedModel(std::unique_ptr<Linearization<Scalar>> model,
                  const AllowedDirections<Scalar>& allowed)
      : model_(std::move(model)), allowed_(allowed) {}

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    RowMatrix<Scalar> kept = P;
    allowed_.apply(kept);
    model_->normal_product(kept, Y);
    allowed_.apply(Y);
  }
  double mean_diagonal() const override { return model_->mean_diagonal(); }
  void factor_preconditioner(double damping) override { model_->factor_preconditioner(damping); }
  void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const override {
    RowMatrix<Scalar> kept = R;
    allowed_.apply(kept);
    model_->precondition(kept, Y);
    allowed_.apply(Y);
  }

 private:
  std::unique_ptr<Linearization<Scalar>> model_;
  const AllowedDirections<Scalar>& allowed_;
};

template <typename Scalar>
double real_trace(const Matrix<Scalar>& A, const Matrix<Scalar>& B) {
  return std::real(A.cwiseProduct(B.transpose()).sum());
}

// X^* Y, k x k: sums over blocks of rows, added in order.
template <typename Scalar>
Matrix<Scalar> inner(const ConstRows<Scalar>& X, const ConstRows<Scalar>& Y) {
  constexpr Index kBlock = 1 << 15;
  const RowMatrix<Scalar> zero = RowMatrix<Scalar>::Zero(X.cols(), Y.cols());
  std::vector<RowMatrix<Scalar>> parts(
      static_cast<size_t>(std::max<Index>(1, (X.rows() + kBlock - 1) / kBlock)), zero);
  parallel_blocks(X.rows(), kBlock, [&](Index begin, Index end) {
    blas::multiply<Scalar>(blas::Form::kAdjoint, X.middleRows(begin, end - begin),
                           blas::Form::kPlain, Y.middleRows(begin, end - begin),
                           parts[static_cast<size_t>(begin / kBlock)]);
  });
  for (size_t b = 1; b < parts.size(); ++b) parts[0] += parts[b];
  return parts[0];
}

}  // namespace

template <typename Scalar>
NullSpace<Scalar>::NullSpace(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                             AllowedDirections<Scalar> allowed, std::vector<char> open,
                             double tolerance, int max_steps)
    : op_(op),
      Z_(Z),
      allowed_(std::move(allowed)),
      open_(std::move(open)),
      tolerance_(tolerance),
      max_steps_(max_steps),
      model_(op.linearize(Z)),
      sizes_(Z.Z.rowwise().norm()) {
  const double mean = std::sqrt(squared_norm(Z.Z) / static_cast<double>(Z.Z.rows()));
  for (Index i = 0; i < sizes_.size(); ++i)
    if (!(sizes_(i) > 0)) sizes_(i) = static_cast<RealOf<Scalar>>(mean);
  if (allowed_.apply)
    model_ = std::make_unique<RestrictedModel<Scalar>>(std::move(model_), allowed_);
  model_->factor_preconditioner(kDamping * model_->mean_diagonal());
}

template <typename Scalar>
Index NullSpace<Scalar>::gauge() const {
  const Index k = Z_.rank() - allowed_.columns;
  if (Z_.symmetric) return kIsComplex<Scalar> ? k * k : k * (k - 1) / 2;
  return kParts<Scalar> * k * k + allowed_.more_gauge;
}

template <typename Scalar>
typename NullSpace<Scalar>::Draw NullSpace<Scalar>::draw(Random& random) {
  Draw result;
  result.start = result.N = Z_;
  RowMatrix<Scalar>& P = result.start.Z;
  random.fill_normal(P);
  P = sizes_.template cast<Scalar>().asDiagonal() * P;
  if (allowed_.apply) allowed_.apply(P);
  RowMatrix<Scalar> g;
  model_->normal_product(P, g);
  // (J^T J) delta = -J^T J P, so that N = P + delta.
  conjugate_gradients(*model_, g, 0, kTight<Scalar>, max_steps_, work_,
                      [&](const LinearSolve<Scalar>& work) {
                        if (work.steps % kLookEvery != kLookEvery - 1) return false;
                        result.N.Z = P + work.delta;
                        return movement(result.N.Z) <= tolerance_ / 10;
                      });
  steps_ += work_.steps;
  result.N.Z = P + work_.delta;
  result.still = movement(result.N.Z) <= tolerance_;
  result.converged = work_.converged || squared_norm(g) == 0;
  return result;
}

template <typename Scalar>
Reals<Scalar> NullSpace<Scalar>::stress(Random& random) {
  Reals<Scalar> z(op_.num_measurements()), image;
  random.fill_normal(z);
  RowMatrix<Scalar> g;
  pull_back(op_, Z_, z, g);
  if (allowed_.apply) allowed_.apply(g);
  conjugate_gradients(*model_, g, 0, 1e-3 * tolerance_, max_steps_, work_);
  steps_ += work_.steps;
  push_forward(op_, Z_, work_.delta, image);
  return z + image;
}

template <typename Scalar>
RowMatrix<Scalar> NullSpace<Scalar>::without_open(const RowMatrix<Scalar>& Z) const {
  RowMatrix<Scalar> kept = Z;
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i]) kept.row(static_cast<Index>(i)).setZero();
  return kept;
}

template <typename Scalar>
typename NullSpace<Scalar>::Side NullSpace<Scalar>::side(const RowMatrix<Scalar>& Z,
                                                         const RowMatrix<Scalar>& N, Index from,
                                                         Index size) const {
  const auto V = Z.middleRows(from, size), dV = N.middleRows(from, size);
  return {inner<Scalar>(V, V), inner<Scalar>(dV, dV), inner<Scalar>(V, dV)};
}

// dX_i = N_i V^* + u_i N_V^*, |dX_i|^2 = N_i V^*V N_i^* + u_i N_V^*N_V u_i^* + 2 Re N_i V^*N_V
// u_i^*
template <typename Scalar>
double NullSpace<Scalar>::line_movement(const RowMatrix<Scalar>& Z, const RowMatrix<Scalar>& N,
                                        Index from, Index size, const Side& other,
                                        double other_size) const {
  constexpr Index kBlock = 1 << 12;
  std::vector<double> largest(static_cast<size_t>(size / kBlock + 1), 0);
  parallel_blocks(size, kBlock, [&](Index begin, Index end) {
    double& own = largest[static_cast<size_t>(begin / kBlock)];
    for (Index i = from + begin; i < from + end; ++i) {
      const auto n = N.row(i), u = Z.row(i);
      const double squared = std::real(n.lazyProduct(other.of_Z).dot(n)) +
                             std::real(u.lazyProduct(other.of_N).dot(u)) +
                             2 * std::real(u.dot(n.lazyProduct(other.mixed)));
      own = std::max(own, std::sqrt(std::max(squared, 0.0)) / (sizes_(i) * other_size));
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

template <typename Scalar>
double NullSpace<Scalar>::movement(const RowMatrix<Scalar>& all_N) const {
  RowMatrix<Scalar> kept_Z, kept_N;
  if (!open_.empty()) {
    kept_Z = without_open(Z_.Z);
    kept_N = without_open(all_N);
  }
  const RowMatrix<Scalar>& Z = open_.empty() ? Z_.Z : kept_Z;
  const RowMatrix<Scalar>& N = open_.empty() ? all_N : kept_N;
  const Index p = Z_.rows, q = Z.rows() - p;
  const double rows = sizes_.head(p).norm(), cols = sizes_.tail(q).norm();
  if (Z_.symmetric) return line_movement(Z, N, 0, p, side(Z, N, 0, p), rows);
  return std::max(line_movement(Z, N, 0, p, side(Z, N, p, q), cols),
                  line_movement(Z, N, p, q, side(Z, N, 0, p), rows));
}

// <dX_a, dX_b> = tr(M_a^* M_b V^* V) + ... over both halves of dX.
template <typename Scalar>
Matrix<double> NullSpace<Scalar>::inner_products(const std::vector<Draw>& draws) const {
  const auto m = static_cast<Index>(draws.size());
  const Index p = Z_.rows, q = Z_.symmetric ? p : Z_.Z.rows() - p;
  const RowMatrix<Scalar> Z = without_open(Z_.Z);
  std::vector<RowMatrix<Scalar>> N;
  for (const Draw& draw : draws) N.push_back(without_open(draw.N.Z));
  const auto U = Z.topRows(p), V = Z.bottomRows(q);
  const Matrix<Scalar> UU = inner<Scalar>(U, U), VV = inner<Scalar>(V, V);
  Matrix<double> products(m, m);
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b <= a; ++b) {
      const auto Ua = N[static_cast<size_t>(a)].topRows(p),
                 Va = N[static_cast<size_t>(a)].bottomRows(q);
      const auto Ub = N[static_cast<size_t>(b)].topRows(p),
                 Vb = N[static_cast<size_t>(b)].bottomRows(q);
      // <Ua V^* + U Va^*, Ub V^* + U Vb^*>
      products(a, b) = products(b, a) =
          real_trace<Scalar>(inner<Scalar>(Ua, Ub), VV) +
          real_trace<Scalar>(UU, inner<Scalar>(Vb, Va)) +
          real_trace<Scalar>(inner<Scalar>(Ua, U), inner<Scalar>(Vb, V)) +
          real_trace<Scalar>(inner<Scalar>(U, Ub), inner<Scalar>(V, Va));
    }
  return products;
}

template <typename Scalar>
Index NullSpace<Scalar>::dense_dimension(double zero) {
  const Index size = kParts<Scalar> * Z_.Z.size();
  Matrix<double> normal(size, size);
  RowMatrix<Scalar> unit = RowMatrix<Scalar>::Zero(Z_.Z.rows(), Z_.rank()), column;
  for (Index c = 0; c < size; ++c) {
    reals_of(unit.data())[c] = 1;
    model_->normal_product(unit, column);
    reals_of(unit.data())[c] = 0;
    normal.col(c) =
        Eigen::Map<const Reals<Scalar>>(reals_of(column.data()), size).template cast<double>();
  }
  const Vector<double> diagonal = normal.diagonal();
  const Vector<double> scale =
      (diagonal.array() > 0).select(diagonal.cwiseSqrt().cwiseInverse(), 0.0);
  normal = scale.asDiagonal() * normal * scale.asDiagonal();
  const Vector<double> values = lapack::eigen_in_place<double>(normal, false);
  const double largest = std::max(zero, 1e4 * kEpsilon<Scalar>) * values(size - 1);
  return (values.array() <= largest).count() - allowed_.fixed;
}

template <typename Scalar>
double NullSpace<Scalar>::estimated_dimension(const std::vector<Draw>& draws) const {
  double total = 0;
  for (const Draw& draw : draws)
    for (Index i = 0; i < sizes_.size(); ++i)
      total += std::real(draw.start.Z.row(i).dot(draw.N.Z.row(i))) /
               (static_cast<double>(sizes_(i)) * static_cast<double>(sizes_(i)));
  // A complex Gaussian has E|z|^2 = 1: half of it for each real parameter.
  return kParts<Scalar> * total / static_cast<double>(draws.size());
}

#define UDV_INSTANTIATE(Scalar) template class NullSpace<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

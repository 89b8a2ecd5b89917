// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"
#include "udv/recover/factors/stacked_factors.hpp"

namespace udv {

namespace device {
template <typename Real>
class GradientModel;
}  // namespace device

/// The Gauss-Newton model of f at Z: J is the derivative of Z -> A(U V^*), or of Z -> A(U U^*), a
/// real-linear map also where Z is complex; J^T is its adjoint for Re <.,.>.
template <typename Scalar>
class UDV_EXPORT Linearization {
 public:
  virtual ~Linearization() = default;
  /// Y = J^T J P. P and Y have the shape of Z.
  virtual void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) = 0;
  /// Mean of the diagonal of J^T J: the unit in which damping is measured.
  virtual double mean_diagonal() const = 0;
  /// Prepares an approximate inverse of J^T J + damping I.
  virtual void factor_preconditioner(double damping) = 0;
  /// Y = that approximate inverse times R; symmetric positive definite.
  virtual void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const = 0;
};

/// What measurements cannot tell about a matrix of a given rank, by index (0-based).
struct UDV_EXPORT Undetermined {
  std::vector<Index> empty_rows, empty_cols;  ///< no measurement touches them
  std::vector<Index> rows, cols;              ///< fewer useful measurements than the rank
  /// Rows and columns of each block that no chain of entries links to the largest one.
  std::vector<std::pair<std::vector<Index>, std::vector<Index>>> blocks;
  Index free_parameters = 0;  ///< of the rows and columns named above, blocks left aside

  bool any() const {
    return !(empty_rows.empty() && empty_cols.empty() && rows.empty() && cols.empty() &&
             blocks.empty());
  }
};

/// Real-linear map A from p x q matrices to n real numbers, A(X)_i = Re <A_i, X>; a complex
/// measurement is two of them, one after the other. X is never formed by a solver: it arrives as
/// U diag(d) V^*. Law: <A(U diag(d) V^*), z> = Re <U diag(d), A*(z) V>.
/// A symmetric operator measures symmetric (Hermitian) X only: the symmetric part of what it is
/// given; and its A*(z) is symmetric.
template <typename Scalar>
class UDV_EXPORT MeasurementOperator {
 public:
  MeasurementOperator(Index rows, Index cols, Index num_measurements, bool symmetric)
      : rows_(rows), cols_(cols), num_measurements_(num_measurements), symmetric_(symmetric) {}
  virtual ~MeasurementOperator() = default;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index num_measurements() const { return num_measurements_; }
  bool symmetric() const { return symmetric_; }

  virtual std::string_view name() const = 0;

  /// y = A(U diag(d) V^*). U is p x k, V is q x k (V = U where symmetric), y has n entries.
  virtual void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
                     Reals<Scalar>& y) const = 0;
  /// out = A*(z) V, p x k.
  virtual void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                             Rows<Scalar> out) const = 0;
  /// out = A*(z)^* U, q x k.
  virtual void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                                       Rows<Scalar> out) const = 0;
  /// Both products at once, for operators that can share work between them (not symmetric).
  virtual void adjoint_products(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                                const ConstRows<Scalar>& V, Rows<Scalar> for_u,
                                Rows<Scalar> for_v) const {
    adjoint_times(z, V, for_u);
    adjoint_transpose_times(z, U, for_v);
  }
  /// z = A(U diag(d) V^*) - b and its products A*(z) V, A*(z)^* U in one go: the work of one
  /// gradient step, for operators that can share it. Where symmetric, for_v is not touched.
  virtual void residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                 const ConstRows<Scalar>& V, const Reals<Scalar>& b,
                                 Reals<Scalar>& z, Rows<Scalar> for_u, Rows<Scalar> for_v) const;
  /// sum_i |A_i|_F^2 / (p q): |A(X)|^2 / |X|_F^2 for a matrix that the map does not favour.
  virtual double mean_gain() const = 0;
  /// An upper bound of the operator norm |A|_(F -> 2).
  virtual double norm_bound() const = 0;

  /// Gauss-Newton model at Z. The default builds it from the products above.
  virtual std::unique_ptr<Linearization<Scalar>> linearize(const StackedFactors<Scalar>& Z) const;
  /// Real numbers that make one measurement: 2 where measurements are complex.
  virtual Index parts() const { return 1; }
  /// Real parameters that n measurements have to determine at rank k.
  virtual double degrees_of_freedom(Index rank) const;
  /// Rows, columns and blocks that a rank-k answer leaves open. The default knows of none.
  virtual Undetermined undetermined(Index rank) const;
  /// Numbers the lines of Z so that lines which spare measurements hold together have the same
  /// number, largest group first; -1: a line alone. draw_stress() is a random z with J^T z = 0: a
  /// measurement that the others do not imply has z_t = 0. The default has one group.
  virtual std::vector<std::int32_t> rigid_groups(
      const StackedFactors<Scalar>& Z, const std::function<Reals<Scalar>()>& draw_stress) const;
  /// Calls visit(i, j) for each entry of X that is measured itself. The default has none.
  virtual void visit_entries(const std::function<void(Index, Index)>& visit) const;
  /// The same map with the named measurements only (each parts() numbers), in that order. Throws
  /// where it cannot.
  virtual std::unique_ptr<MeasurementOperator> subset(const std::vector<Index>& which) const;
  /// The same map with its work on a CUDA device: arrays stay on the host for callers, and solvers
  /// that know the operator keep theirs there. Throws OptionError where it cannot, or where there
  /// is too little memory for factors with so many columns.
  virtual std::shared_ptr<const MeasurementOperator> on_device(Index columns = 1) const;
  /// What gradient steps need of it for factors on the device. It may refer to the operator.
  /// Nothing where the operator works on the host.
  virtual std::shared_ptr<const device::GradientModel<RealOf<Scalar>>> gradient_model(
      const Reals<Scalar>& b) const;

 private:
  Index rows_, cols_, num_measurements_;
  bool symmetric_;
};

/// y = A(U V^*), without weights.
template <typename Scalar>
void apply_stack(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                 Reals<Scalar>& y) {
  op.apply(Z.U(), Reals<Scalar>::Ones(Z.rank()), Z.V(), y);
}

/// G = J^T z at Z: (A*(z) V; A*(z)^* U), or 2 A*(z) U where symmetric.
template <typename Scalar>
UDV_EXPORT void pull_back(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                          const Reals<Scalar>& z, RowMatrix<Scalar>& G);

/// y = J P at Z: A(P_U V^* + U P_V^*), or 2 A(P U^*) where symmetric.
template <typename Scalar>
UDV_EXPORT void push_forward(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                             const RowMatrix<Scalar>& P, Reals<Scalar>& y);

/// y = S x, where S = A*(z) (symmetric) or [0 A*(z); A*(z)^* 0]: its smallest eigenvalue is that
/// of the gradient, or minus its largest singular value.
template <typename Scalar>
UDV_EXPORT void residual_product(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& z,
                                 const Vector<Scalar>& x, Vector<Scalar>& y);

}  // namespace udv

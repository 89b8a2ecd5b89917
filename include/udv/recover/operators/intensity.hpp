// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Intensities of a linear map W: A(X)_i = w_i X w_i^* with the rows w_i of W, for symmetric
/// (Hermitian) X, so that X = x x^* gives |W x|^2. An operator of this kind says what W and W^* do;
/// A(U diag(d) V^*) = Re sum_c d_c (W U)_c o conj (W V)_c and A*(z) V = W^* (z o W V) follow.
template <typename Scalar>
class UDV_EXPORT IntensityOperator : public MeasurementOperator<Scalar> {
 public:
  IntensityOperator(Index size, Index num_measurements)
      : MeasurementOperator<Scalar>(size, size, num_measurements, true) {}

  /// fields = W U, n x k.
  virtual void project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const = 0;
  /// out = W^* fields, p x k.
  virtual void back_project(const RowMatrix<Scalar>& fields, Rows<Scalar> out) const = 0;
  /// An estimate of tr X from b = A(X): exact on average for rows of random direction.
  virtual double trace_estimate(const Reals<Scalar>& b) const = 0;
  /// Diagonal of W^* diag(w) W, or a constant near it: what one weight per unknown can say of it.
  virtual Reals<Scalar> diagonal(const Reals<Scalar>& w) const = 0;
  /// sum_j c_j |w_ij|^2 for every i: |w_i|^2 where c is one.
  virtual Reals<Scalar> squared_rows(const Reals<Scalar>& c) const = 0;
  /// W^* diag(w) W is diagonal, and diagonal() exact, where w_i depends on |w_i| alone.
  virtual bool has_diagonal_gram() const { return false; }

  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override {
    adjoint_times(z, U, out);
  }
  std::unique_ptr<Linearization<Scalar>> linearize(const StackedFactors<Scalar>& Z) const override;
};

/// fields = z o fields, row by row.
template <typename Scalar>
void scale_rows(const Reals<Scalar>& z, RowMatrix<Scalar>& fields) {
  for (Index i = 0; i < fields.rows(); ++i) fields.row(i) *= z(i);
}

}  // namespace udv

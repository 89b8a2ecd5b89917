// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Gauss-Newton model built from an operator's own products:
///   J P = A(P_U V^* + U P_V^*),  J^T w = (A*(w) V; A*(w)^* U);  symmetric: 2 A(P U^*), 2 A*(w) U.
/// Preconditioner: A*A ~ gain I gives one k x k block for all rows of U (gain V^* V + damping I),
/// and one for all rows of V. Exact for an isometry up to the coupling between U and V.
template <typename Scalar>
class UDV_EXPORT GenericLinearization : public Linearization<Scalar> {
 public:
  GenericLinearization(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z);

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override;
  double mean_diagonal() const override;
  void factor_preconditioner(double damping) override;
  void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const override;

 protected:
  const StackedFactors<Scalar>& Z_;

 private:
  const MeasurementOperator<Scalar>& op_;
  RealOf<Scalar> gain_;
  RowMatrix<Scalar> left_, right_;  // [P_U U] and [V P_V]
  Reals<Scalar> measured_;
  Matrix<Scalar> gram_u_, gram_v_;
  Matrix<Scalar> block_u_, block_v_;  // Cholesky factors
};

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Gauss-Newton model of sampled entries: (J P)_t = sqrt(w_t) (P_i . v_j + u_i . P_j) in one pass
/// by rows that also adds up the row side of J^T J P, then one pass by columns. Preconditioner: the
/// k x k diagonal block of J^T J of each line, the matrix that alternating least squares would
/// invert, by Cholesky.
template <typename Scalar>
class EntriesLinearization final : public Linearization<Scalar> {
 public:
  EntriesLinearization(const EntriesOperator<Scalar>& op, const StackedFactors<Scalar>& Z);

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override;
  double mean_diagonal() const override;
  void factor_preconditioner(double damping) override;
  void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const override;

 private:
  const EntriesOperator<Scalar>& op_;
  const StackedFactors<Scalar>& Z_;
  Reals<Scalar> measured_;     // sqrt(w) J P
  RowMatrix<Scalar> blocks_;   // one row per line of Z: packed lower triangle of its block
  RowMatrix<Scalar> factors_;  // the same for the Cholesky factors, with inverted diagonal
};

}  // namespace udv

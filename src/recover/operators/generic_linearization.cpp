// SPDX-License-Identifier: MIT
#include "udv/recover/operators/generic_linearization.hpp"

#include "core/instantiate.hpp"

namespace udv {

template <typename Scalar>
GenericLinearization<Scalar>::GenericLinearization(const MeasurementOperator<Scalar>& op,
                                                   const Stack<Scalar>& Z)
    : Z_(Z), op_(op), gain_(static_cast<RealOf<Scalar>>(op.mean_gain() * (Z.symmetric ? 2 : 1))) {
  gram_u_ = Z.U().adjoint() * Z.U();
  gram_v_ = Z.V().adjoint() * Z.V();
  if (!Z.symmetric) {
    left_.resize(op.rows(), 2 * Z.rank());
    right_.resize(op.cols(), 2 * Z.rank());
    left_.rightCols(Z.rank()) = Z.U();
    right_.leftCols(Z.rank()) = Z.V();
  }
}

template <typename Scalar>
void GenericLinearization<Scalar>::normal_product(const RowMatrix<Scalar>& P,
                                                  RowMatrix<Scalar>& Y) {
  const Index k = Z_.rank();
  if (Z_.symmetric) {
    op_.apply(P, Reals<Scalar>::Constant(k, 2), Z_.U(), measured_);
  } else {
    left_.leftCols(k) = P.topRows(op_.rows());
    right_.rightCols(k) = P.bottomRows(op_.cols());
    op_.apply(left_, Reals<Scalar>::Ones(2 * k), right_, measured_);
  }
  pull_back(op_, Z_, measured_, Y);
}

template <typename Scalar>
double GenericLinearization<Scalar>::mean_diagonal() const {
  const auto p = static_cast<double>(op_.rows());
  const auto q = static_cast<double>(op_.cols());
  const double total = Z_.symmetric
                           ? p * std::real(gram_u_.trace())
                           : p * std::real(gram_v_.trace()) + q * std::real(gram_u_.trace());
  return gain_ * total / static_cast<double>(Z_.Z.size());
}

template <typename Scalar>
void GenericLinearization<Scalar>::factor_preconditioner(double damping) {
  const auto damped = [&](const Matrix<Scalar>& gram) -> Matrix<Scalar> {
    // A floor keeps the block definite where a column has vanished.
    const double floor = 5e3 * kEpsilon<Scalar> * gain_ * std::real(gram.trace()) + 1e-300;
    return gain_ * gram + static_cast<RealOf<Scalar>>(damping + floor) *
                              Matrix<Scalar>::Identity(gram.rows(), gram.cols());
  };
  block_u_.compute(damped(gram_v_));
  block_v_.compute(damped(gram_u_));
}

template <typename Scalar>
void GenericLinearization<Scalar>::precondition(const RowMatrix<Scalar>& R,
                                                RowMatrix<Scalar>& Y) const {
  Y.resize(R.rows(), R.cols());
  const Index p = op_.rows();
  Y.topRows(p) = block_u_.solve(R.topRows(p).adjoint()).adjoint();
  if (!Z_.symmetric)
    Y.bottomRows(op_.cols()) = block_v_.solve(R.bottomRows(op_.cols()).adjoint()).adjoint();
}

#define UDV_INSTANTIATE(Scalar) template class GenericLinearization<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

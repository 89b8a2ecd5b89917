// SPDX-License-Identifier: MIT
#include "udv/recover/operators/generic_linearization.hpp"

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/lapack.hpp"

namespace udv {

template <typename Scalar>
GenericLinearization<Scalar>::GenericLinearization(const MeasurementOperator<Scalar>& op,
                                                   const StackedFactors<Scalar>& Z)
    : Z_(Z), op_(op), gain_(static_cast<RealOf<Scalar>>(op.mean_gain() * (Z.symmetric ? 2 : 1))) {
  const auto gram = [](const ConstRows<Scalar>& U) {
    RowMatrix<Scalar> product(U.cols(), U.cols());
    blas::multiply<Scalar>(blas::Form::kAdjoint, U, blas::Form::kPlain, U, product);
    return product;
  };
  gram_u_ = gram(Z.U());
  gram_v_ = gram(Z.V());
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
  const auto factored = [&](const Matrix<Scalar>& gram) {
    // A floor keeps the block definite where a column has vanished.
    const double floor = 5e3 * kEpsilon<Scalar> * gain_ * std::real(gram.trace()) + 1e-300;
    Matrix<Scalar> block = gain_ * gram;
    block.diagonal().array() += static_cast<RealOf<Scalar>>(damping + floor);
    lapack::cholesky_in_place(block);
    return block;
  };
  block_u_ = factored(gram_v_);
  block_v_ = factored(gram_u_);
}

template <typename Scalar>
void GenericLinearization<Scalar>::precondition(const RowMatrix<Scalar>& R,
                                                RowMatrix<Scalar>& Y) const {
  Y.resize(R.rows(), R.cols());
  const Index p = op_.rows();
  lapack::solve_from_right<Scalar>(block_u_, R.topRows(p), Y.topRows(p));
  if (!Z_.symmetric)
    lapack::solve_from_right<Scalar>(block_v_, R.bottomRows(op_.cols()), Y.bottomRows(op_.cols()));
}

#define UDV_INSTANTIATE(Scalar) template class GenericLinearization<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

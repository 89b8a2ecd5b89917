// SPDX-License-Identifier: MIT
#include "support/reference.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "core/instantiate.hpp"

namespace udv::testing {

template <typename Scalar>
RowMatrix<Scalar> plain_product(const RowMatrix<Scalar>& A, const RowMatrix<Scalar>& B) {
  RowMatrix<Scalar> C = RowMatrix<Scalar>::Zero(A.rows(), B.cols());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index k = 0; k < A.cols(); ++k) C.row(i) += A(i, k) * B.row(k);
  return C;
}
#define UDV_INSTANTIATE(Scalar)                                              \
  template RowMatrix<Scalar> plain_product<Scalar>(const RowMatrix<Scalar>&, \
                                                   const RowMatrix<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

Vector<double> jacobi_singular_values(const Matrix<std::complex<double>>& A) {
  return Eigen::JacobiSVD<Matrix<std::complex<double>>>(A).singularValues();
}

Vector<double> hermitian_eigenvalues(const Matrix<std::complex<double>>& A) {
  return Eigen::SelfAdjointEigenSolver<Matrix<std::complex<double>>>(A, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

}  // namespace udv::testing

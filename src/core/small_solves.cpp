// SPDX-License-Identifier: MIT
#include "core/small_solves.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace udv {

Cholesky cholesky(const Matrix<double>& A) {
  const Eigen::LLT<Matrix<double>> llt(A);
  return {llt.matrixL(), llt.info() == Eigen::Success};
}

Vector<double> lower_solve(const Matrix<double>& L, const Vector<double>& b) {
  return L.triangularView<Eigen::Lower>().solve(b);
}

Matrix<double> lower_inverse(const Matrix<double>& L) {
  return L.triangularView<Eigen::Lower>().solve(Matrix<double>::Identity(L.rows(), L.rows()));
}

Vector<double> symmetric_solve(const Matrix<double>& A, const Vector<double>& b) {
  return A.ldlt().solve(b);
}

Vector<double> square_solve(const Matrix<double>& A, const Vector<double>& b) {
  return A.partialPivLu().solve(b);
}

SymmetricEigen symmetric_eigen(const Matrix<double>& A) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(A);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

RowMatrix<double> orthonormal(const RowMatrix<double>& X) {
  const Eigen::HouseholderQR<Matrix<double>> qr{Matrix<double>(X)};
  return qr.householderQ() * Matrix<double>::Identity(X.rows(), X.cols());
}

}  // namespace udv

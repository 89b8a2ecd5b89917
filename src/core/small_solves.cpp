// SPDX-License-Identifier: MIT
#include "core/small_solves.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <limits>

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

Matrix<double> congruence(const Matrix<double>& A, const Matrix<double>& B) {
  return A * B * A.transpose();
}

Matrix<double> small_product(const Matrix<double>& A, const Matrix<double>& B) {
  return A * B;
}

Matrix<double> weighted_gram(const RowMatrix<double>& F, const Vector<double>& w) {
  return F.transpose() * w.asDiagonal() * F;
}

Vector<double> weighted_least_squares(const RowMatrix<double>& F, const Vector<double>& w,
                                      const Vector<double>& y) {
  Matrix<double> G = weighted_gram(F, w);
  G.diagonal().array() += 1e-13 * G.trace() + std::numeric_limits<double>::min();
  return symmetric_solve(G, F.transpose() * w.cwiseProduct(y));
}

RowMatrix<double> orthonormal(const RowMatrix<double>& X) {
  const Eigen::HouseholderQR<Matrix<double>> qr{Matrix<double>(X)};
  return qr.householderQ() * Matrix<double>::Identity(X.rows(), X.cols());
}

}  // namespace udv

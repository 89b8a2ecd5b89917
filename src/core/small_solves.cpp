// SPDX-License-Identifier: MIT
#include "core/small_solves.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>

#include "core/blas.hpp"
#include "core/lapack.hpp"

namespace udv {
namespace {

// What is in columns looks transposed to who reads rows.
Eigen::Map<const RowMatrix<double>> turned(const Matrix<double>& A) {
  return {A.data(), A.cols(), A.rows()};
}

// A B or A B^T, as (A B)^T = B^T A^T.
Matrix<double> product(const Matrix<double>& A, const Matrix<double>& B, bool turn_b) {
  Matrix<double> C(A.rows(), turn_b ? B.rows() : B.cols());
  blas::multiply<double>(turn_b ? blas::Form::kTransposed : blas::Form::kPlain, turned(B),
                         blas::Form::kPlain, turned(A),
                         Eigen::Map<RowMatrix<double>>(C.data(), C.cols(), C.rows()));
  return C;
}

}  // namespace

Cholesky cholesky(const Matrix<double>& A) {
  Cholesky found{A, true};
  found.positive = lapack::cholesky_in_place(found.L);
  for (Index j = 1; j < A.cols(); ++j) found.L.col(j).head(j).setZero();
  return found;
}

Vector<double> lower_solve(const Matrix<double>& L, const Vector<double>& b) {
  Vector<double> x = b;
  for (Index j = 0; j < x.size(); ++j) {
    x(j) /= L(j, j);
    const Index below = x.size() - j - 1;
    x.tail(below) -= x(j) * L.col(j).tail(below);
  }
  return x;
}

Matrix<double> lower_inverse(const Matrix<double>& L) {
  Matrix<double> inverse(L.rows(), L.cols());
  for (Index j = 0; j < L.cols(); ++j)
    inverse.col(j) = lower_solve(L, Vector<double>::Unit(L.rows(), j));
  return inverse;
}

Vector<double> symmetric_solve(const Matrix<double>& A, const Vector<double>& b) {
  return A.ldlt().solve(b);
}

Vector<double> square_solve(const Matrix<double>& A, const Vector<double>& b) {
  return lapack::square_solve(A, b);
}

SymmetricEigen symmetric_eigen(const Matrix<double>& A) {
  SymmetricEigen found{Vector<double>::Constant(A.rows(), A.sum()), A};
  if (!A.allFinite()) return found;  // all NaN or infinite
  found.values = lapack::eigen_in_place<double>(found.Q, true);
  return found;
}

Matrix<double> congruence(const Matrix<double>& A, const Matrix<double>& B) {
  return product(product(A, B, false), A, true);
}

Matrix<double> small_product(const Matrix<double>& A, const Matrix<double>& B) {
  return product(A, B, false);
}

Matrix<double> weighted_gram(const RowMatrix<double>& F, const Vector<double>& w) {
  const RowMatrix<double> weighted = w.asDiagonal() * F;
  RowMatrix<double> gram(F.cols(), F.cols());
  blas::multiply<double>(blas::Form::kTransposed, F, blas::Form::kPlain, weighted, gram);
  return gram;
}

Vector<double> weighted_least_squares(const RowMatrix<double>& F, const Vector<double>& w,
                                      const Vector<double>& y) {
  Matrix<double> G = weighted_gram(F, w);
  G.diagonal().array() += 1e-13 * G.trace() + std::numeric_limits<double>::min();
  return symmetric_solve(G, F.transpose() * w.cwiseProduct(y));
}

RowMatrix<double> orthonormal(const RowMatrix<double>& X) {
  const lapack::ThinQr<double> qr{Matrix<double>(X)};
  return qr.Q_times(Matrix<double>::Identity(std::min(X.rows(), X.cols()), X.cols()));
}

}  // namespace udv

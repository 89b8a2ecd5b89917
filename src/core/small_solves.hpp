// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

/// Eigen's decompositions and products of small real matrices. Each takes a compiler seconds
/// wherever it is used: they are compiled here, once.
namespace udv {

/// A = L L^T. The upper triangle of L is zero.
struct Cholesky {
  Matrix<double> L;
  bool positive = false;  ///< A is positive definite; else L is worth nothing
};
Cholesky cholesky(const Matrix<double>& A);

/// L^-1 b and L^-1 of a lower triangle.
Vector<double> lower_solve(const Matrix<double>& L, const Vector<double>& b);
Matrix<double> lower_inverse(const Matrix<double>& L);

/// A^-1 b of a symmetric A = P^T L D L^T P, positive or negative semidefinite.
Vector<double> symmetric_solve(const Matrix<double>& A, const Vector<double>& b);

/// A^-1 b of a square A, by elimination with row exchanges.
Vector<double> square_solve(const Matrix<double>& A, const Vector<double>& b);

/// A = Q diag(values) Q^T of a symmetric A, smallest first.
struct SymmetricEigen {
  Vector<double> values;
  Matrix<double> Q;
};
SymmetricEigen symmetric_eigen(const Matrix<double>& A);

/// A B A^T
Matrix<double> congruence(const Matrix<double>& A, const Matrix<double>& B);

/// A B
Matrix<double> small_product(const Matrix<double>& A, const Matrix<double>& B);

/// F^T diag(w) F
Matrix<double> weighted_gram(const RowMatrix<double>& F, const Vector<double>& w);

/// argmin_z sum_t w_t (F z - y)_t^2, with a ridge of rounding size.
Vector<double> weighted_least_squares(const RowMatrix<double>& F, const Vector<double>& w,
                                      const Vector<double>& y);

/// An orthonormal basis of the columns of X, by Householder reflections.
RowMatrix<double> orthonormal(const RowMatrix<double>& X);

}  // namespace udv

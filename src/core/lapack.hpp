// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/types.hpp"

/// Decompositions of dense matrices by OpenBLAS's LAPACK, on the calling thread. Eigen's own ones
/// are as good, but each takes a compiler ten seconds and more. W is double or std::complex<double>
/// unless stated otherwise.
namespace udv::lapack {

/// A = Q R by Householder reflections, with Q kept as their product.
template <typename W>
class ThinQr {
 public:
  explicit ThinQr(Matrix<W> A);

  /// m x k, upper triangular, m = min(p, k).
  RowMatrix<W> R() const;
  /// Q X of p rows; X has m.
  Matrix<W> Q_times(const Matrix<W>& X) const;

 private:
  void factor_blocks(const Matrix<W>& A, Index blocks);

  // A tall matrix is cut into blocks of rows: each has a factorization of its own, and this one is
  // that of their R, one below the other.
  std::vector<ThinQr> blocks_;
  Matrix<W> reflections_;
  Vector<W> scales_;
};

/// A = U diag(s) V^*, s largest first.
template <typename W>
struct ThinSvd {
  Matrix<W> U;
  Vector<double> s;
  Matrix<W> V;
};

/// Small matrices by one-sided Jacobi rotations, whose small singular values are right relative to
/// themselves where the columns are; large ones by divide and conquer, which is right relative to
/// the largest. All NaN where a number is not finite.
template <typename W>
ThinSvd<W> thin_svd(const Matrix<W>& A);

/// Largest first.
Vector<double> singular_values(Matrix<double> A);

/// Eigenvalues of the symmetric or Hermitian matrix whose lower triangle is given, smallest first.
/// Where wanted, eigenvector j becomes column j of A; else A is destroyed.
template <typename W>
Vector<double> eigen_in_place(Eigen::Ref<Matrix<W>> A, bool vectors);

/// Of a symmetric tridiagonal matrix, smallest first; eigenvector j is column j.
struct TridiagonalEigen {
  Vector<double> values;
  Matrix<double> vectors;
};
TridiagonalEigen tridiagonal_eigen(Vector<double> diagonal, Vector<double> beside);

/// A^-1 b of a square A, by elimination with row exchanges; all NaN where A is singular.
Vector<double> square_solve(Matrix<double> A, Vector<double> b);

/// A = L L^* in the lower triangle, for all four scalars. False where A is not positive definite.
template <typename Scalar>
bool cholesky_in_place(Matrix<Scalar>& A);

/// X = B (L L^*)^-1, for all four scalars.
template <typename Scalar>
void solve_from_right(const Matrix<Scalar>& L, const ConstRows<Scalar>& B, Rows<Scalar> X);

}  // namespace udv::lapack

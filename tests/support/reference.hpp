// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

/// Spectra by Eigen, which the library does not use for them: to compare with. In complex double
/// precision whatever the scalar, and compiled once, as each takes the compiler ten seconds.
/// Products as they are defined.
namespace udv::testing {

/// A B
template <typename Scalar>
RowMatrix<Scalar> plain_product(const RowMatrix<Scalar>& A, const RowMatrix<Scalar>& B);

/// A B, for expressions of any kind.
template <typename Left, typename Right>
RowMatrix<typename Left::Scalar> product(const Eigen::MatrixBase<Left>& A,
                                         const Eigen::MatrixBase<Right>& B) {
  return plain_product<typename Left::Scalar>(A, B);
}

/// U diag(d) V^*, formed.
template <typename Left, typename Weights, typename Right>
RowMatrix<typename Left::Scalar> dense(const Eigen::MatrixBase<Left>& U,
                                       const Eigen::MatrixBase<Weights>& d,
                                       const Eigen::MatrixBase<Right>& V) {
  return product(U * d.template cast<typename Left::Scalar>().asDiagonal(), V.adjoint());
}

/// Largest first.
Vector<double> jacobi_singular_values(const Matrix<std::complex<double>>& A);
/// Of a Hermitian matrix, smallest first.
Vector<double> hermitian_eigenvalues(const Matrix<std::complex<double>>& A);

template <typename Derived>
Vector<double> singular_values_of(const Eigen::MatrixBase<Derived>& A) {
  return jacobi_singular_values(A.template cast<std::complex<double>>());
}
template <typename Derived>
Vector<double> eigenvalues_of(const Eigen::MatrixBase<Derived>& A) {
  return hermitian_eigenvalues(A.template cast<std::complex<double>>());
}

}  // namespace udv::testing

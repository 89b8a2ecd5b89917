// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

/// Spectra by Eigen, which the library does not use for them: to compare with. In complex double
/// precision whatever the scalar, and compiled once, as each takes the compiler ten seconds.
namespace udv::testing {

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

// SPDX-License-Identifier: MIT
#include "support/reference.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace udv::testing {

Vector<double> jacobi_singular_values(const Matrix<std::complex<double>>& A) {
  return Eigen::JacobiSVD<Matrix<std::complex<double>>>(A).singularValues();
}

Vector<double> hermitian_eigenvalues(const Matrix<std::complex<double>>& A) {
  return Eigen::SelfAdjointEigenSolver<Matrix<std::complex<double>>>(A, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

}  // namespace udv::testing

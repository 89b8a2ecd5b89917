// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

namespace udv::net {

/// The three products of a dense layer. Large ones are cut into blocks of the result, by sizes
/// alone, and go to all threads: the same bits for any number of them.

/// Y = X W^T: (n x k)(m x k)^T.
template <typename Real>
void multiply_transposed(const ConstRows<Real>& X, const ConstRows<Real>& W, Rows<Real> Y);

/// dX = dY W: (n x m)(m x k).
template <typename Real>
void multiply(const ConstRows<Real>& dY, const ConstRows<Real>& W, Rows<Real> dX);

/// dW = dY^T X: (n x m)^T (n x k).
template <typename Real>
void transposed_multiply(const ConstRows<Real>& dY, const ConstRows<Real>& X, Rows<Real> dW);

/// A B as a new matrix.
inline RowMatrix<double> product(const ConstRows<double>& A, const ConstRows<double>& B) {
  RowMatrix<double> result(A.rows(), B.cols());
  multiply<double>(A, B, result);
  return result;
}

}  // namespace udv::net

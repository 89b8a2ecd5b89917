// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

/// Products of dense matrices on the calling thread. A compiler would make Eigen's kernels anew in
/// every file, for each kind of expression and each scalar type: here they are made once.
namespace udv::blas {

/// OpenBLAS stays on the thread that calls it: its own threads would give other sums for another
/// number of them. Everything that calls OpenBLAS calls this first.
void use_one_thread();

/// How a matrix enters a product.
enum class Form { kPlain, kTransposed, kAdjoint, kConjugate };

/// C = A B with either matrix in the given form. C is neither of them.
template <typename Scalar>
void multiply(Form form_a, const ConstRows<Scalar>& A, Form form_b, const ConstRows<Scalar>& B,
              Rows<Scalar> C);

/// A vector as a matrix of one column, for multiply().
template <typename Scalar>
Eigen::Map<const RowMatrix<Scalar>> as_column(const Vector<Scalar>& x) {
  return {x.data(), x.size(), 1};
}
template <typename Scalar>
Eigen::Map<RowMatrix<Scalar>> as_column(Vector<Scalar>& x) {
  return {x.data(), x.size(), 1};
}

}  // namespace udv::blas

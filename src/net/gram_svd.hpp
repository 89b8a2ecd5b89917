// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

namespace udv::net {

/// M = P diag(s) Q^T with k = min(rows, cols) terms, largest first.
struct GramSvd {
  Vector<double> s;     ///< k
  RowMatrix<double> P;  ///< rows x k
  RowMatrix<double> B;  ///< k x cols: diag(s) Q^T = P^T M, exact also where s is rounding
};

/// By the eigenvectors of the smaller Gram matrix: one product and one symmetric eigenproblem
/// instead of an SVD. Singular values below 1e-8 of the largest are rounding. O(d m min(d, m)).
GramSvd gram_svd(const RowMatrix<double>& M);

/// Singular values alone, largest first.
Vector<double> gram_singular_values(const RowMatrix<double>& M);

}  // namespace udv::net

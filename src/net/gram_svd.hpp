// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// M = P diag(s) Q^T with k = min(rows, cols) terms, largest first.
struct GramSvd {
  Vector<double> s;      ///< k
  RowMatrix<double> Pt;  ///< k x rows: P^T
  RowMatrix<double> B;   ///< k x cols: diag(s) Q^T = P^T M, exact also where s is rounding
};

/// By the eigenvectors of the smaller Gram matrix: one product and one symmetric eigenproblem
/// instead of an SVD. Singular values below 1e-8 of the largest are rounding. O(d m min(d, m)).
/// `lapack_threads` are those of LAPACK: another number gives other last bits, so it is fixed where
/// the call stands. More than one only where no other thread is in a product.
UDV_EXPORT GramSvd gram_svd(const RowMatrix<double>& M, int lapack_threads = 1);

/// Singular values alone, largest first.
UDV_EXPORT Vector<double> gram_singular_values(const RowMatrix<double>& M);

}  // namespace udv::net

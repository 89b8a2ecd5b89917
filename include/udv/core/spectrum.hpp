// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

namespace udv {

/// X = U diag(s) V^T with orthonormal columns and s >= 0, largest first.
/// For a symmetric X, V is empty and s holds eigenvalues (of either sign, largest first).
struct FactoredSvd {
  RowMatrix<double> U;
  Vector<double> s;
  RowMatrix<double> V;
};

/// SVD of X = U diag(d) V^T from its factors: QR of both, then an SVD of the k x k core.
/// X itself is never formed. O((p + q) k^2 + k^3).
FactoredSvd factored_svd(const RowMatrix<double>& U, const Vector<double>& d,
                         const RowMatrix<double>& V);

/// Eigendecomposition of X = U diag(d) U^T from its factor, in the same way.
FactoredSvd factored_eigen(const RowMatrix<double>& U, const Vector<double>& d);

/// Number of values above `tolerance` times the first one.
Index numerical_rank(const Vector<double>& spectrum, double tolerance);

/// sigma_rank / sigma_(rank + 1), with the denominator floored at machine precision; 0 at rank 0.
double rank_gap(const Vector<double>& spectrum, Index rank);

}  // namespace udv

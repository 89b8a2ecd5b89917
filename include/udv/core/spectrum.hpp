// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// X = U diag(s) V^* with orthonormal columns and s >= 0, largest first.
/// For a symmetric X, V is empty and s holds eigenvalues (of either sign, largest first).
template <typename Scalar>
struct FactoredSvd {
  RowMatrix<Scalar> U;
  Vector<double> s;
  RowMatrix<Scalar> V;
};

/// SVD of X = U diag(d) V^* from its factors: QR of both, then an SVD of the k x k core, in double
/// precision. X itself is never formed. O((p + q) k^2 + k^3).
template <typename Scalar>
UDV_EXPORT FactoredSvd<Scalar> factored_svd(const RowMatrix<Scalar>& U, const Reals<Scalar>& d,
                                            const RowMatrix<Scalar>& V);

/// Eigendecomposition of X = U diag(d) U^* from its factor, in the same way.
template <typename Scalar>
UDV_EXPORT FactoredSvd<Scalar> factored_eigen(const RowMatrix<Scalar>& U, const Reals<Scalar>& d);

/// Number of values above `tolerance` times the first one.
UDV_EXPORT Index numerical_rank(const Vector<double>& spectrum, double tolerance);

/// sigma_rank / sigma_(rank + 1), with the denominator floored at machine precision; 0 at rank 0.
UDV_EXPORT double rank_gap(const Vector<double>& spectrum, Index rank);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "udv/core/types.hpp"

namespace udv {

/// X = U diag(d) V^T = (U left) diag(s) (V right)^T with orthonormal columns U left and V right,
/// s largest first.
struct GramSvd {
  Matrix<double> left, right;
  Vector<double> s;
};

/// By the Gram matrices of both, twice each: no other array of that size is needed, and each
/// process of a team looks at its own lines. The same bits for any number of processes and threads.
/// Nothing where a side has few lines or columns are close to dependent: then the QR factorizations
/// of factored_svd() do better. Collective.
std::optional<GramSvd> gram_svd(const ConstRows<double>& U, const Vector<double>& d,
                                const ConstRows<double>& V);

/// X <- X M of these factors, which all processes know. Collective.
void multiply_shared(Rows<double> X, const Matrix<double>& M);

}  // namespace udv

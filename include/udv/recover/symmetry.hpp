// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What is known of X = U diag(d) U^T.
enum class Symmetry {
  kOff,         ///< X need not be symmetric
  kPsd,         ///< symmetric, d >= 0
  kIndefinite,  ///< symmetric, d of either sign
};

/// Entries of a symmetric matrix as those of a rectangular one: each at both of its places.
UDV_EXPORT Entries mirrored(const Entries& entries);

/// The answer for mirrored entries as X = U diag(d) U^T with orthonormal U and d of either sign,
/// largest magnitude first: the eigendecomposition of (X + X^T) / 2, cut to the rank of X.
/// O(p k^2).
UDV_EXPORT Recovery symmetrised(Recovery recovery);

/// The same with the number of entries before mirrored(), and each gross error named once.
UDV_EXPORT Recovery unmirrored(Recovery recovery, const Entries& entries);

}  // namespace udv

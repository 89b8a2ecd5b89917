// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/factors/stacked_factors.hpp"

namespace udv {

/// The same X = U V^* with U = P sqrt(S), V = Q sqrt(S) from its SVD P S Q^*: orthogonal columns,
/// equally long on both sides, largest first. Columns that make X indefinite are not possible.
template <typename Scalar>
UDV_EXPORT StackedFactors<Scalar> balanced(const StackedFactors<Scalar>& Z);

/// The first `count` columns (all where there are fewer).
template <typename Scalar>
UDV_EXPORT StackedFactors<Scalar> leading_columns(const StackedFactors<Scalar>& Z, Index count);

/// The same X inside of some blocks and of the rest, with as few columns as the block of largest
/// rank has: each block is balanced by itself. Entries between blocks change.
template <typename Scalar>
UDV_EXPORT StackedFactors<Scalar> balanced_by_blocks(
    const StackedFactors<Scalar>& Z,
    const std::vector<std::pair<std::vector<Index>, std::vector<Index>>>& blocks, double share);

/// Number of columns of a balanced stack whose singular value exceeds `share` of the largest.
template <typename Scalar>
UDV_EXPORT Index significant_columns(const StackedFactors<Scalar>& balanced, double share);

}  // namespace udv

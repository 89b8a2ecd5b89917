// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/factors/stack.hpp"

namespace udv {

/// The same X = U V^T with U = P sqrt(S), V = Q sqrt(S) from its SVD P S Q^T: orthogonal columns,
/// equally long on both sides, largest first. Columns that make X indefinite are not possible.
Stack<double> balanced(const Stack<double>& Z);

/// The first `count` columns (all where there are fewer).
Stack<double> leading_columns(const Stack<double>& Z, Index count);

/// Number of columns of a balanced stack whose singular value exceeds `share` of the largest.
Index significant_columns(const Stack<double>& balanced, double share);

}  // namespace udv

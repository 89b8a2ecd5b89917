// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Fits single rows of U and V again, each against the other side as it stands, so that fewer
/// entries of that line are off by more than `threshold`: least absolute deviations over all
/// entries of the line, then, for lines with many bad entries, random subsets. A robust fit of the
/// whole matrix can reject a good line; here the line comes back. True where any line changed.
template <typename Scalar>
UDV_EXPORT bool repair_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                             double threshold, std::uint64_t seed, StackedFactors<Scalar>& Z);

}  // namespace udv

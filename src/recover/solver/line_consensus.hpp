// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Sizes of what an entry may have beside the low-rank part.
struct ErrorSizes {
  double noise = 0;   ///< standard deviation of the noise
  double errors = 0;  ///< root mean square of gross errors
};

/// Lines of which more than half of the entries seem wrong have no majority to trust. Each is
/// compared with all that may explain it: that k entries, and those that agree with them, are right
/// and the others errors, or that no more than k are right. Evidence decides, with a heavy-tailed
/// prior made from the other lines; see docs/auto-mode.md. A line whose best explanation is 20
/// times more probable than any other that says something else gets it. Of the others nothing can
/// be known: all of their entries are returned, ascending.
template <typename Scalar>
UDV_EXPORT std::vector<Index> judge_doubtful_lines(const EntriesOperator<Scalar>& op,
                                                   const Reals<Scalar>& b, const ErrorSizes& sizes,
                                                   std::uint64_t seed, StackedFactors<Scalar>& Z);

/// The most probable factors of lines whose entries were left out because nothing can be known of
/// them: guesses. `op` and `b` have these entries alone; lines of Z with no entries in `op` stay.
template <typename Scalar>
UDV_EXPORT void guess_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                            const ErrorSizes& sizes, std::uint64_t seed, StackedFactors<Scalar>& Z);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// 1 for lines with an entry that is not zero.
struct LiveLines {
  std::vector<char> rows, cols;

  bool hold(Index i, Index j) const {
    return rows[static_cast<std::size_t>(i)] && cols[static_cast<std::size_t>(j)];
  }
};
template <typename Scalar>
UDV_EXPORT LiveLines live_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b);

/// Entries in lines that have more than zeros, ascending. Lines of zeros (a dead channel) are
/// fitted exactly by any fit, whatever the rank and whatever the noise elsewhere: they say nothing
/// of either.
template <typename Scalar>
UDV_EXPORT std::vector<Index> entries_in_live_lines(const EntriesOperator<Scalar>& op,
                                                    const Reals<Scalar>& b);

/// How many entries are in lines of zeros; entries of weight 0 are in none. 0 where all are zeros.
template <typename Scalar>
UDV_EXPORT Index num_entries_in_dead_lines(const EntriesOperator<Scalar>& op,
                                           const Reals<Scalar>& b);

/// The entries in live lines, where there are others; nothing for other operators.
template <typename Scalar>
UDV_EXPORT std::optional<EntriesOperator<Scalar>> live_part(const MeasurementOperator<Scalar>& op,
                                                            const Reals<Scalar>& b);

}  // namespace udv

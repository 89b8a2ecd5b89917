// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

struct Prediction {
  Index row = 0, col = 0;  ///< 0-based
  double value = 0;        ///< 0 where row or column has no data
  bool has_data = false;
  bool determined = false;
  /// Standard deviation of an observation of the entry; infinite where it is not determined, 0
  /// beside an exact fit.
  double deviation = std::numeric_limits<double>::infinity();
};

/// What the data say about single entries of a completed matrix.
class UDV_EXPORT DeterminedEntries {
 public:
  /// `known`: the entries that the recovery was made from.
  DeterminedEntries(const Recovery& recovery, const Entries& known);

  /// Row i and column j have entries.
  bool has_data(Index i, Index j) const;
  /// The data determine X(i, j): it is known, or follows from what is known.
  bool determined(Index i, Index j) const;
  /// X(i, j) + biases, and how far it can be trusted.
  Prediction predict(Index i, Index j) const;

 private:
  const Recovery& recovery_;
  std::vector<char> empty_row_, empty_col_;
  std::vector<std::int64_t> known_;  // i * cols + j, sorted
};

/// X(i, j) + biases for each pair.
UDV_EXPORT std::vector<Prediction> predict_entries(
    const Recovery& recovery, const Entries& known,
    const std::vector<std::pair<Index, Index>>& pairs);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What the data say about single entries of a completed matrix.
class UDV_EXPORT DeterminedEntries {
 public:
  explicit DeterminedEntries(const Recovery& recovery);

  /// Row i and column j have entries.
  bool has_data(Index i, Index j) const;
  /// The data determine X(i, j): row and column belong to the same block and are not open.
  bool determined(Index i, Index j) const;

 private:
  std::vector<char> empty_row_, empty_col_;
  std::vector<int> row_block_, col_block_;  // -1: open
};

struct Prediction {
  Index row = 0, col = 0;  ///< 0-based
  double value = 0;        ///< 0 where row or column has no data
  bool has_data = false;
  bool determined = false;
};

/// X(i, j) + biases for each pair.
UDV_EXPORT std::vector<Prediction> predict_entries(
    const Recovery& recovery, const std::vector<std::pair<Index, Index>>& pairs);

struct TestError {
  std::optional<double> rmse;  ///< nothing where no entry counts
  Index left_out = 0;          ///< entries in rows or columns without data
};

/// Root mean square error on test entries whose row and column have data.
UDV_EXPORT TestError test_error(const Recovery& recovery, const Entries& test);

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/prediction.hpp"

#include <cmath>

namespace udv {
namespace {

size_t at(Index i) {
  return static_cast<size_t>(i);
}

// Rows or columns of a matrix as a look-up table.
std::vector<char> marked(Index size, const std::vector<Index>& which) {
  std::vector<char> marks(at(size), 0);
  for (const Index i : which) marks[at(i)] = 1;
  return marks;
}

// Number of the block that each row (or column) belongs to; -1 where it is open itself.
std::vector<int> blocks(Index size, const Undetermined& open, const std::vector<Index>& lines,
                        bool rows) {
  std::vector<int> block(at(size), 0);
  for (const Index i : lines) block[at(i)] = -1;
  for (size_t b = 0; b < open.blocks.size(); ++b)
    for (const Index i : rows ? open.blocks[b].first : open.blocks[b].second)
      block[at(i)] = static_cast<int>(b) + 1;
  return block;
}

}  // namespace

DeterminedEntries::DeterminedEntries(const Recovery& r)
    : empty_row_(marked(r.rows, r.undetermined.empty_rows)),
      empty_col_(
          marked(r.cols, r.symmetric ? r.undetermined.empty_rows : r.undetermined.empty_cols)),
      row_block_(blocks(r.rows, r.undetermined, r.undetermined.rows, true)),
      col_block_(r.symmetric ? row_block_
                             : blocks(r.cols, r.undetermined, r.undetermined.cols, false)) {}

bool DeterminedEntries::has_data(Index i, Index j) const {
  return !empty_row_[at(i)] && !empty_col_[at(j)];
}

bool DeterminedEntries::determined(Index i, Index j) const {
  return has_data(i, j) && row_block_[at(i)] >= 0 && row_block_[at(i)] == col_block_[at(j)];
}

std::vector<Prediction> predict_entries(const Recovery& recovery,
                                        const std::vector<std::pair<Index, Index>>& pairs) {
  const DeterminedEntries known(recovery);
  std::vector<Prediction> predictions;
  predictions.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    Prediction& p = predictions.emplace_back(Prediction{i, j});
    p.has_data = known.has_data(i, j);
    p.determined = known.determined(i, j);
    if (p.has_data) p.value = recovery.predict(i, j);
  }
  return predictions;
}

TestError test_error(const Recovery& recovery, const Entries& test) {
  const DeterminedEntries known(recovery);
  TestError result;
  double squares = 0;
  for (size_t t = 0; t < test.value.size(); ++t) {
    const Index i = test.row[t], j = test.col[t];
    if (!known.has_data(i, j)) {
      ++result.left_out;
      continue;
    }
    const double error = recovery.predict(i, j) - test.value[t];
    squares += error * error;
  }
  const Index counted = test.size() - result.left_out;
  if (counted > 0) result.rmse = std::sqrt(squares / static_cast<double>(counted));
  return result;
}

}  // namespace udv

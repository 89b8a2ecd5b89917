// SPDX-License-Identifier: MIT
#include "udv/recover/prediction.hpp"

#include <algorithm>
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

std::vector<std::int64_t> places(const Entries& known) {
  std::vector<std::int64_t> result;
  result.reserve(known.row.size());
  for (size_t t = 0; t < known.row.size(); ++t) {
    const std::int64_t i = known.row[t], j = known.col[t];
    result.push_back(i * known.cols + j);
    if (known.symmetric && i != j) result.push_back(j * known.cols + i);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Without a posterior the noise alone is known.
double deviation(const Recovery& recovery, Index i, Index j, double value) {
  if (recovery.exact) return 0;
  return recovery.posterior ? recovery.posterior->deviation(i, j, value) : recovery.noise_sigma;
}

}  // namespace

DeterminedEntries::DeterminedEntries(const Recovery& r, const Entries& known)
    : recovery_(r),
      empty_row_(marked(r.rows, r.undetermined.empty_rows)),
      empty_col_(
          marked(r.cols, r.symmetric ? r.undetermined.empty_rows : r.undetermined.empty_cols)),
      known_(places(known)) {}

bool DeterminedEntries::has_data(Index i, Index j) const {
  return !empty_row_[at(i)] && !empty_col_[at(j)];
}

bool DeterminedEntries::determined(Index i, Index j) const {
  if (!has_data(i, j)) return false;
  return recovery_.open_entries.determined(i, j) ||
         std::binary_search(known_.begin(), known_.end(), i * recovery_.cols + j);
}

Prediction DeterminedEntries::predict(Index i, Index j) const {
  Prediction p{i, j};
  p.has_data = has_data(i, j);
  p.determined = determined(i, j);
  if (p.has_data) p.value = recovery_.predict(i, j);
  if (p.determined) p.deviation = deviation(recovery_, i, j, p.value);
  return p;
}

std::vector<Prediction> predict_entries(const Recovery& recovery, const Entries& entries,
                                        const std::vector<std::pair<Index, Index>>& pairs) {
  const DeterminedEntries known(recovery, entries);
  std::vector<Prediction> predictions;
  predictions.reserve(pairs.size());
  for (const auto& [i, j] : pairs) predictions.push_back(known.predict(i, j));
  return predictions;
}

}  // namespace udv

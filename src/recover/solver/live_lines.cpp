// SPDX-License-Identifier: MIT
#include "recover/solver/live_lines.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/operators/measured_sums.hpp"

namespace udv {

namespace {

// Calls visit(i, j, entry) for each entry.
template <typename Scalar, typename Visit>
void visit_places(const EntriesOperator<Scalar>& op, const Visit& visit) {
  const SparseLines rows = op.by_row();
  for (Index i = rows.begin; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s)
      visit(i, static_cast<Index>(rows.other[s]), static_cast<Index>(rows.entry[s]));
}

// 1 where any process has a mark.
void mark_of_any(std::vector<char>& marks) {
  std::vector<Index> counts(marks.begin(), marks.end());
  communicator().sum(counts.data(), static_cast<Index>(counts.size()));
  for (size_t i = 0; i < marks.size(); ++i) marks[i] = counts[i] > 0;
}

}  // namespace

template <typename Scalar>
LiveLines live_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b) {
  LiveLines live{std::vector<char>(static_cast<size_t>(op.rows())),
                 std::vector<char>(static_cast<size_t>(op.cols()))};
  visit_places(op, [&](Index i, Index j, Index entry) {
    if (b(entry) == 0) return;
    live.rows[static_cast<size_t>(i)] = live.cols[static_cast<size_t>(j)] = 1;
    if (op.symmetric()) live.rows[static_cast<size_t>(j)] = live.cols[static_cast<size_t>(i)] = 1;
  });
  if (op.is_spread())
    for (auto* const marks : {&live.rows, &live.cols}) mark_of_any(*marks);
  return live;
}

template <typename Scalar>
Index num_entries_in_dead_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b) {
  if (all_measured<Scalar>(op, [&](Index t) { return b(t) != 0; }) ||
      all_measured<Scalar>(op, [&](Index t) { return b(t) == 0; }))
    return 0;
  const LiveLines live = live_lines(op, b);
  const auto& root = op.root_weights();
  Index count = 0;
  visit_places(op, [&](Index i, Index j, Index entry) {
    count += !live.hold(i, j) && (root.size() == 0 || root(entry) > 0);
  });
  if (op.is_spread()) communicator().sum(&count, 1);
  return count;
}

template <typename Scalar>
std::optional<EntriesOperator<Scalar>> live_part(const MeasurementOperator<Scalar>& op,
                                                 const Reals<Scalar>& b) {
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op);
  if (!entries) return std::nullopt;
  const Index dead = num_entries_in_dead_lines(*entries, b);
  if (dead == 0) return std::nullopt;
  return entries->restricted(entries_in_live_lines(*entries, b));
}

template <typename Scalar>
std::vector<Index> entries_in_live_lines(const EntriesOperator<Scalar>& op,
                                         const Reals<Scalar>& b) {
  const LiveLines lines = live_lines(op, b);
  std::vector<Index> live;
  visit_places(op, [&](Index i, Index j, Index entry) {
    if (lines.hold(i, j)) live.push_back(entry);
  });
  std::sort(live.begin(), live.end());
  return live;
}

#define UDV_INSTANTIATE(Scalar)                                                                   \
  template LiveLines live_lines(const EntriesOperator<Scalar>&, const Reals<Scalar>&);            \
  template Index num_entries_in_dead_lines(const EntriesOperator<Scalar>&, const Reals<Scalar>&); \
  template std::vector<Index> entries_in_live_lines(const EntriesOperator<Scalar>&,               \
                                                    const Reals<Scalar>&);                        \
  template std::optional<EntriesOperator<Scalar>> live_part(const MeasurementOperator<Scalar>&,   \
                                                            const Reals<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

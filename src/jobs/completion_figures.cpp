// SPDX-License-Identifier: MIT
#include "jobs/completion_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

constexpr std::size_t kListedEntries = 10'000;
constexpr std::size_t kWeakLines = 10;

// row,column,value,predicted,std of entries that were not used; at most 10,000 of them.
void write_held_out(Run& run, const LineNames& names, const std::vector<HeldOutEntry>& entries) {
  if (!run.has_folder()) return;
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,predicted,std\n");
  const std::size_t every = (entries.size() + kListedEntries - 1) / kListedEntries;
  for (std::size_t t = 0; t < entries.size(); t += every) {
    const HeldOutEntry& e = entries[t];
    fmt::format_to(out, "{},{},{:.10g},{:.10g},{:.6g}\n", names.row(e.row), names.col(e.col),
                   e.value, e.predicted, e.deviation);
  }
  io::write_atomically(run.folder().file("held_out.csv"), fmt::to_string(text));
}

void add_estimate(Run& run, const std::string& name, const ErrorEstimate& error) {
  run.info().figures[name] = error.rmse;
  run.info().figures[name + "_std"] = error.deviation;
}

// Names, uncertainties and numbers of entries of the most uncertain lines: those that the data
// leave `open`, then those that are more than twice as uncertain as the one in the middle.
void add_lines(Run& run, const std::string& kind, Vector<double> deviations,
               const std::vector<Index>& open, const std::vector<Index>& entries,
               const auto& name) {
  for (const Index i : open) deviations(i) = std::numeric_limits<double>::infinity();
  std::vector<Index> order(entries.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::erase_if(order, [&](Index i) { return entries[static_cast<std::size_t>(i)] == 0; });
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return deviations(a) > deviations(b); });
  const double usual = deviations(order[order.size() / 2]);
  auto& lists = run.info().lists;
  for (std::size_t n = 0; n < std::min(order.size(), kWeakLines); ++n) {
    const Index i = order[n];
    if (!(deviations(i) > 2 * usual)) break;
    lists["weak_" + kind].emplace_back(name(i));
    lists["weak_" + kind + "_std"].emplace_back(deviations(i));
    lists["weak_" + kind + "_entries"].emplace_back(
        std::int64_t{entries[static_cast<std::size_t>(i)]});
  }
}

}  // namespace

std::optional<HeldOutErrors> test_errors(Run& run, const CompleteTask& task, Recovery& recovery) {
  const CompleteData& data = task.data;
  if (data.test.size() == 0 || recovery.stop_reason == StopReason::kInterrupted)
    return std::nullopt;
  std::vector<HeldOutEntry> listed;
  const HeldOutErrors errors = held_out_errors(recovery, data.entries, data.test, &listed);
  if (errors.left_out > 0)
    run.session().listener().warning(
        fmt::format("{} of {} test entries lie in rows or columns without data and are left out",
                    errors.left_out, data.test.size()));
  if (errors.counted == 0) return std::nullopt;
  recovery.test_rmse = errors.answer;
  run.info().figures["test_biases_rmse"] = errors.biases;
  run.info().figures["test_mean_rmse"] = errors.mean;
  write_held_out(run, task.line_names(), listed);
  return errors;
}

void add_fold_figures(Run& run, const CompleteTask& task, const Recovery& recovery,
                      const std::optional<FoldErrors>& folds) {
  if (recovery.stop_reason == StopReason::kInterrupted) return;
  if (!folds) return run.warn("the time limit left no time for the folds: no fold error");
  run.info().figures["folds"] = static_cast<std::int64_t>(folds->folds.size());
  add_estimate(run, "fold_rmse", folds->answer());
  add_estimate(run, "fold_biases_rmse", folds->biases());
  add_estimate(run, "fold_mean_rmse", folds->mean());
  run.info().figures["low_rank_pays"] = folds->low_rank_pays();
  run.info().figures["fold_verdict"] = folds->sentence();
  for (std::size_t k = 0; k < folds->folds.size(); ++k) {
    run.info().lists["fold_rmses"].emplace_back(folds->folds[k].answer);
    run.info().lists["fold_ranks"].emplace_back(std::int64_t{folds->ranks[k]});
  }
  if (folds->left_out() > 0)
    run.info().figures["fold_left_out"] = static_cast<std::int64_t>(folds->left_out());
  if (task.data.test.size() == 0) write_held_out(run, task.line_names(), folds->entries);
}

void add_weak_lines(Run& run, const CompleteTask& task, const Recovery& recovery) {
  if (recovery.stop_reason == StopReason::kInterrupted) return;
  const Entries& entries = task.data.entries;
  std::vector<Index> rows = task.row_entries, cols = task.col_entries;
  rows.resize(static_cast<std::size_t>(entries.rows));
  cols.resize(static_cast<std::size_t>(entries.cols));
  for (std::size_t t = 0; t < entries.value.size(); ++t) {
    ++rows[static_cast<std::size_t>(entries.row[t])];
    ++cols[static_cast<std::size_t>(entries.col[t])];
  }
  const LineNames names = task.line_names();
  const auto plain = [](const io::Keys& keys, Index i, int base) {
    return keys.empty() ? std::to_string(i + base) : std::string(keys[i]);
  };
  const auto deviations = [&](bool of_rows, Index lines) {
    return recovery.posterior ? recovery.posterior->line_deviations(of_rows)
                              : Vector<double>::Zero(lines);
  };
  add_lines(run, "rows", deviations(true, entries.rows), recovery.undetermined.rows, rows,
            [&](Index i) { return plain(names.rows, i, names.base); });
  add_lines(run, "columns", deviations(false, entries.cols), recovery.undetermined.cols, cols,
            [&](Index j) { return plain(names.cols, j, names.base); });
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/communicator.hpp"
#include "core/hash.hpp"
#include "core/machine.hpp"
#include "core/require.hpp"
#include "jobs/complete_input.hpp"
#include "jobs/completion_figures.hpp"
#include "jobs/completion_solve.hpp"
#include "jobs/fill.hpp"
#include "jobs/recovery.hpp"
#include "recover/operators/entry_shares.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

constexpr Index kMostLines = 50'000'000;

void check_settings(const CompleteOptions& options) {
  const Centering center = options.method.center;
  const bool symmetric = options.symmetric != Symmetry::kOff;
  if (symmetric && center != Centering::kNone && center != Centering::kAuto)
    throw OptionError("center", "goes with rectangular problems, not with symmetric ones");
  if (symmetric && options.shape && options.shape->first != options.shape->second)
    throw OptionError("shape", "a square expected for a symmetric matrix");
  check_options(options.method);
}

double largest_magnitude(const Entries& entries) {
  double largest = 0;
  for (const double value : entries.value) largest = std::max(largest, std::abs(value));
  return largest;
}

// Of all processes that share the entries.
double largest_of_all(const Entries& entries) {
  double largest = 0;
  for (const std::string& text : gathered(fmt::format("{:.17g}", largest_magnitude(entries))))
    largest = std::max(largest, std::stod(text));
  return largest;
}

void check_entries(const std::string& path, const Entries& entries) {
  require<IoError>(entries.rows > 1 && entries.cols > 1, path, ": the matrix is ", entries.rows,
                   " x ", entries.cols,
                   ", at least 2 x 2 expected: a single line has nothing "
                   "to be completed from");
  require<IoError>(entries.rows + entries.cols <= kMostLines, path, ": the matrix is ",
                   entries.rows, " x ", entries.cols, ", at most ", kMostLines,
                   " rows and columns together expected; is an index wrong?");
  const double largest = largest_of_all(entries);
  require<IoError>(largest > 0, path, ": all ", entries.size(),
                   " values are zero, at least one other expected");
  check_magnitude(path, largest);
}

// Throws where the means that are asked for explain everything.
void check_center(const CompleteTask& task, Centering mode) {
  if (mode == Centering::kNone || mode == Centering::kAuto) return;
  const Entries& entries = task.data.entries;
  const Entries rest = centered(entries, fit_biases(entries, mode));
  require<IoError>(largest_magnitude(rest) > 1e-12 * largest_magnitude(entries), task.name(),
                   ": nothing is left to recover after centering: the fitted means explain all "
                   "values");
}

// The completed table and the best unknown columns of each row.
void write_tables(Run& run, const CompleteTask& task, const Recovery& recovery) {
  const TableOutput& output = task.output;
  const bool recommends = output.recommend > 0 && run.has_folder();
  if (output.fill.empty() && !recommends) return;
  const DeterminedEntries determined(recovery, task.data.entries);
  const KnownRows known(task.data.entries);
  const CompletedRows matrix = completed_rows(recovery, determined);
  const LineNames names = task.line_names();
  if (!output.fill.empty()) write_fill(output, matrix, known, task.data.form, names);
  if (recommends)
    write_recommendations(run.folder().file("recommendations.csv"), output, task.rows, matrix,
                          known, names);
}

// Predictions and the files of the answer.
std::vector<Prediction> use_answer(Run& run, const CompleteTask& task, Recovery& recovery) {
  const CompleteData& data = task.data;
  if (recovery.stop_reason == StopReason::kInterrupted) return {};
  write_tables(run, task, recovery);
  auto predictions = predict_entries(recovery, data.entries, data.pairs);
  if (!run.has_folder()) return predictions;
  if (!task.names.predict.empty() || !data.pairs.empty())
    io::write_atomically(run.folder().file("predictions.csv"),
                         predictions_csv(predictions, task.line_names()));
  return predictions;
}

using Places = std::vector<std::pair<Index, Index>>;

// "3 (12), 7 (5), ...": the lines with the most of these places.
template <typename NameOf>
std::string worst_lines(const Places& places, bool rows, const NameOf& name) {
  constexpr size_t kShown = 5;
  std::map<Index, Index> counts;
  for (const auto& [i, j] : places) ++counts[rows ? i : j];
  std::vector<std::pair<Index, Index>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t n = 0; n < std::min(order.size(), kShown); ++n)
    text += fmt::format("{}{} ({})", n ? ", " : "", name(order[n].first), order[n].second);
  return text + (order.size() > kShown ? ", ..." : "");
}

// row,column,value,expected of some entries.
std::string outliers_csv(const CompleteData& data, const LineNames& names,
                         const Recovery& recovery) {
  std::map<std::pair<Index, Index>, double> values;
  for (const auto& place : recovery.outliers) values[place] = 0;
  for (size_t t = 0; t < data.entries.value.size(); ++t) {
    const std::pair<Index, Index> place{data.entries.row[t], data.entries.col[t]};
    for (const auto& each : {place, std::pair{place.second, place.first}})
      if (const auto at = values.find(each);
          at != values.end() && (each == place || data.entries.symmetric))
        at->second = data.entries.value[t];
  }
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,expected\n");
  for (const auto& [place, value] : values)
    fmt::format_to(out, "{},{},{:.17g},{:.17g}\n", names.row(place.first), names.col(place.second),
                   value, recovery.predict(place.first, place.second));
  return fmt::to_string(text);
}

// Gross errors by name, and as a table beside the answer.
void report_outliers(Run& run, const CompleteTask& task, const Recovery& recovery) {
  const CompleteData& data = task.data;
  const LineNames names = task.line_names();
  const Places& outliers = recovery.outliers;
  if (outliers.empty() || recovery.stop_reason == StopReason::kInterrupted) return;
  const double percent =
      100.0 * static_cast<double>(outliers.size()) / static_cast<double>(recovery.measurements);
  run.warn(fmt::format(
      "{} of {} entries ({:.2g} %) are gross errors{}; most of them in rows {} and columns {}; "
      "outliers.csv lists them",
      outliers.size(), recovery.measurements, percent,
      recovery.outliers_removed ? " and are left out" : ", and the answer suffers from them",
      worst_lines(outliers, true, [&](Index i) { return names.row_text(i); }),
      worst_lines(outliers, false, [&](Index j) { return names.col_text(j); })));
  for (const auto& [i, j] : outliers) {
    run.info().lists["outlier_rows"].push_back(std::int64_t{i + data.index_base});
    run.info().lists["outlier_columns"].push_back(std::int64_t{j + data.index_base});
  }
  if (run.has_folder())
    io::write_atomically(run.folder().file("outliers.csv"), outliers_csv(data, names, recovery));
}

// Throws where the settings make no sense for this task. Without a folder the solve says it itself.
void check_task(CompleteTask& task, const CompleteOptions& options, bool has_folder) {
  if (has_folder) check_entries(task.data.entries, options, task.spread);
  if (options.folds > task.data.entries.size())
    throw OptionError("folds", fmt::format("{} found, at most {} expected: one for each entry",
                                           options.folds, task.data.entries.size()));
}

// Processes that work together must see the same data, and each must have lines to work on.
void check_alike(const CompleteTask& task) {
  if (communicator().is_alone()) return;
  const Entries& entries = task.data.entries;
  const int ranks = communicator().size();
  require<IoError>(std::min(entries.rows, entries.cols) >= ranks, task.name(), ": the matrix is ",
                   entries.rows, " x ", entries.cols, ", at least as many rows and columns as the ",
                   ranks, " processes expected");
  if (task.spread) return;  // the reader has compared the files
  std::uint64_t hash = kHashStart;
  const auto add = [&hash](const auto& values) {
    hash = array_hash(values.data(), values.size() * sizeof(values[0]), hash);
  };
  add(entries.row);
  add(entries.col);
  add(entries.value);
  add(entries.weight);
  require_alike(task.name(),
                message(entries.size(), " entries of a ", entries.rows, " x ", entries.cols,
                        " matrix with checksum ", hash),
                "the same data");
}

// Says early what a solve of entries on several ranks may come to need. Collective.
void check_room(Run& run, const CompleteTask& task, const CompleteOptions& options) {
  if (communicator().is_alone()) return;
  const Index shared = entries_shared_out(task, options);
  if (shared == 0) return;
  require(shared <= most_entries() || !task.needs_entries(),
          "test, predict, fill and recommend need all ", shared,
          " entries in one process, at most ", most_entries(), " expected");
  if (const std::string warning = room_warning(shared); !warning.empty()) run.warn(warning);
}

// What follows a solve for the ranks that neither print nor write.
CompleteResult result_of_others(Recovery recovery) {
  CompleteResult result;
  result.outcome = outcome_of(recovery);
  result.recovery = std::move(recovery);
  return result;
}

CompleteResult complete_task(CompleteTask task, CompleteOptions options, Session& session) {
  options.method.seed = session.seed();
  check_alike(task);
  check_center(task, options.method.center);
  OptionTable table;
  if (session.has_folder()) {  // what is to be written, and checkpoints are held against
    describe(table, task.names);
    describe(table, options);
  }
  check_task(task, options, session.has_folder() || !communicator().is_alone());
  check_output(task.output, task.data.entries.rows, task.data.entries.cols);
  for (const std::string& notice : task.notices) session.notice(notice);
  Run run(session, "complete", table.config(), table.fingerprint());
  run.info().config["base"] = static_cast<std::int64_t>(task.data.index_base);
  run.info().index_base = task.data.index_base;
  for (const std::string& warning : task.warnings) run.warn(warning);
  for (const std::string& notice : task.notices) run.info().lists["notices"].emplace_back(notice);
  for (const std::string& path : task.inputs) run.info().lists["inputs"].emplace_back(path);
  check_room(run, task, options);
  auto [recovery, folds] = solve_completion(run, task, options);
  if (!communicator().is_root()) return result_of_others(std::move(recovery));
  const WorkAlone alone;
  report_outliers(run, task, recovery);
  warn_about(run, recovery, task.line_names());
  write_keys(run, task.line_names());
  CompleteResult result;
  result.test = test_errors(run, task, recovery);
  result.predictions = use_answer(run, task, recovery);
  if (options.folds > 0) add_fold_figures(run, task, recovery, folds);
  add_weak_lines(run, task, recovery);
  static_cast<RecoveryResult<double>&>(result) = finish(run, std::move(recovery));
  result.folds = std::move(folds);
  return result;
}

}  // namespace

CompleteResult complete(const CompleteInput& input, const CompleteOptions& options,
                        Session& session) {
  check_settings(options);
  const EarlyFolder early(session);
  CompleteTask task = read_task(input, options, session);
  check_entries(input.file, task.data.entries);
  read_companions(options, task);
  return complete_task(std::move(task), options, session);
}

CompleteResult complete(const CompleteData& data, const CompleteOptions& options,
                        Session& session) {
  check_settings(options);
  check_entries("entries", data.entries);
  CompleteTask task;
  task.data = data;
  task.output = options.output;
  check_keys(data);
  read_companions(options, task);
  task.data.entries.symmetric = task.data.entries.symmetric || options.symmetric != Symmetry::kOff;
  return complete_task(std::move(task), options, session);
}

}  // namespace udv::jobs

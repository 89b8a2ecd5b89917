// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/require.hpp"
#include "jobs/recovery.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

constexpr Index kMostLines = 50'000'000;

// What was read, with the names that messages use.
struct Task {
  CompleteInput names;
  CompleteData data;
  std::vector<std::string> warnings;

  std::string name() const { return names.file.empty() ? "entries" : names.file; }
};

io::EntriesOptions reader_options(const CompleteOptions& options) {
  io::EntriesOptions how;
  how.base = options.base;
  how.symmetric = options.symmetric != Symmetry::kOff;
  if (options.shape) std::tie(how.rows, how.cols) = *options.shape;
  return how;
}

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

void check_entries(const std::string& path, const Entries& entries) {
  require<IoError>(entries.rows > 1 && entries.cols > 1, path, ": the matrix is ", entries.rows,
                   " x ", entries.cols,
                   ", at least 2 x 2 expected: a single line has nothing "
                   "to be completed from");
  require<IoError>(entries.rows + entries.cols <= kMostLines, path, ": the matrix is ",
                   entries.rows, " x ", entries.cols, ", at most ", kMostLines,
                   " rows and columns together expected; is an index wrong?");
  const double largest = largest_magnitude(entries);
  require<IoError>(largest > 0, path, ": all ", entries.size(),
                   " values are zero, at least one other expected");
  check_magnitude(path, largest);
}

bool is_matrix_market(const std::string& path) {
  return path.ends_with(".mtx") || path.ends_with(".mtx.gz");
}

Task read_task(const CompleteInput& input, const CompleteOptions& options) {
  Task task;
  task.names = input;
  io::EntriesFile file = io::read_entries_file(input.file, reader_options(options));
  check_entries(input.file, file.entries);
  if (!input.test.empty()) {
    io::EntriesOptions how = reader_options(options);
    // Matrix Market files count from 1 whatever the data do.
    const bool counts_from_one = file.base == 1 || is_matrix_market(input.test);
    how.base = counts_from_one ? io::IndexBase::kOne : io::IndexBase::kZero;
    how.rows = file.entries.rows;
    how.cols = file.entries.cols;
    task.data.test = io::read_entries(input.test, how);
  }
  if (!input.predict.empty())
    task.data.pairs =
        io::read_pairs(input.predict, file.base, file.entries.rows, file.entries.cols);
  task.data.entries = std::move(file.entries);
  task.data.index_base = file.base;
  task.warnings = std::move(file.warnings);
  return task;
}

// Throws where the means that are asked for explain everything.
void check_center(const Task& task, Centering mode) {
  if (mode == Centering::kNone || mode == Centering::kAuto) return;
  const Entries& entries = task.data.entries;
  const Entries rest = centered(entries, fit_biases(entries, mode));
  require<IoError>(largest_magnitude(rest) > 1e-12 * largest_magnitude(entries), task.name(),
                   ": nothing is left to recover after centering: the fitted means explain all "
                   "values");
}

// row,column,value,determined,std; no value where the row or column has no data.
std::string predictions_csv(const std::vector<Prediction>& predictions, int base) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,determined,std\n");
  for (const Prediction& p : predictions) {
    fmt::format_to(out, "{},{},", p.row + base, p.col + base);
    if (p.has_data) fmt::format_to(out, "{:.17g}", p.value);
    fmt::format_to(out, ",{},{:.6g}\n", p.determined ? 1 : 0, p.deviation);
  }
  return fmt::to_string(text);
}

void write_biases(const std::filesystem::path& path, const Recovery& recovery) {
  const Biases& biases = recovery.biases;
  const auto array = [](const Vector<double>& values, Index size) {
    const Vector<double> all = values.size() > 0 ? values : Vector<double>::Zero(size);
    return io::Array{{size}, {all.begin(), all.end()}};
  };
  io::write_npz(path, {{"global", {{}, {biases.global}}},
                       {"rows", array(biases.row, recovery.rows)},
                       {"cols", array(biases.col, recovery.cols)}});
}

// Error on the test entries, predictions, and their files.
std::vector<Prediction> use_answer(Run& run, const Task& task, Recovery& recovery) {
  const CompleteData& data = task.data;
  if (recovery.stop_reason == StopReason::kInterrupted) return {};
  if (data.test.size() > 0) {
    const TestError error = test_error(recovery, data.entries, data.test);
    recovery.test_rmse = error.rmse;
    if (error.left_out > 0)
      run.session().listener().warning(
          fmt::format("{} of {} test entries lie in rows or columns without data and are left out",
                      error.left_out, data.test.size()));
  }
  auto predictions = predict_entries(recovery, data.entries, data.pairs);
  if (!run.has_folder()) return predictions;
  if (!task.names.predict.empty() || !data.pairs.empty())
    io::write_atomically(run.folder().file("predictions.csv"),
                         predictions_csv(predictions, data.index_base));
  if (recovery.center != Centering::kNone) write_biases(run.folder().file("center.npz"), recovery);
  return predictions;
}

// "rows 3 (12 entries), 7 (5), ..." with the most of them.
std::string worst_lines(const std::vector<std::int32_t>& lines, const std::vector<Index>& outliers,
                        int base) {
  constexpr size_t kShown = 5;
  std::map<Index, Index> counts;
  for (const Index t : outliers) ++counts[lines[static_cast<size_t>(t)]];
  std::vector<std::pair<Index, Index>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(order.size(), kShown); ++i)
    text += fmt::format("{}{} ({})", i ? ", " : "", order[i].first + base, order[i].second);
  return text + (order.size() > kShown ? ", ..." : "");
}

// Gross errors by name, and as a table beside the answer.
void report_outliers(Run& run, const CompleteData& data, const Recovery& recovery) {
  const std::vector<Index>& outliers = recovery.outliers;
  if (outliers.empty() || recovery.stop_reason == StopReason::kInterrupted) return;
  const double percent =
      100.0 * static_cast<double>(outliers.size()) / static_cast<double>(recovery.measurements);
  run.warn(fmt::format(
      "{} of {} entries ({:.2g} %) are gross errors{}; most of them in rows {} and columns {}; "
      "outliers.csv lists them",
      outliers.size(), recovery.measurements, percent,
      recovery.outliers_removed ? " and are left out" : ", and the answer suffers from them",
      worst_lines(data.entries.row, outliers, data.index_base),
      worst_lines(data.entries.col, outliers, data.index_base)));
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,expected\n");
  for (const Index t : outliers) {
    const auto at = static_cast<size_t>(t);
    const std::int64_t i = data.entries.row[at], j = data.entries.col[at];
    run.info().lists["outlier_rows"].push_back(i + data.index_base);
    run.info().lists["outlier_columns"].push_back(j + data.index_base);
    fmt::format_to(out, "{},{},{:.17g},{:.17g}\n", i + data.index_base, j + data.index_base,
                   data.entries.value[at], recovery.predict(i, j));
  }
  if (run.has_folder())
    io::write_atomically(run.folder().file("outliers.csv"), fmt::to_string(text));
}

CompleteResult complete_task(Task task, CompleteOptions options, Session& session) {
  options.method.seed = session.seed();
  check_center(task, options.method.center);
  OptionTable table;
  describe(table, task.names);
  describe(table, options);
  const bool indefinite = options.symmetric == Symmetry::kIndefinite;
  RecoverOptions method = options.method;
  if (indefinite) method.center = Centering::kNone;
  const Problem problem = completion(indefinite ? mirrored(task.data.entries) : task.data.entries);
  check_problem(problem, method);
  Run run(session, "complete", table.config(), table.fingerprint());
  run.info().config["base"] = static_cast<std::int64_t>(task.data.index_base);
  run.info().index_base = task.data.index_base;
  for (const std::string& warning : task.warnings) run.warn(warning);
  Recovery recovery = solve(run, problem, method);
  if (indefinite) recovery = unmirrored(symmetrised(std::move(recovery)), task.data.entries);
  report_outliers(run, task.data, recovery);
  warn_about(run, recovery);
  CompleteResult result;
  result.predictions = use_answer(run, task, recovery);
  static_cast<RecoveryResult<double>&>(result) = finish(run, std::move(recovery));
  return result;
}

}  // namespace

void describe(OptionTable& table, CompleteInput& input) {
  table
      .add("file", input.file,
           "Known entries: .mtx, text triplets (.csv, .tsv, .txt), .npy with NaN; also .gz")
      .is_input()
      .called("FILE");
  table.add("test", input.test, "Entries to measure the error on (test_rmse)")
      .called("FILE")
      .keeps_numbers();
  table.add("predict", input.predict, "Pairs row,column to predict (predictions.csv)")
      .called("FILE")
      .keeps_numbers();
}

void describe(OptionTable& table, CompleteOptions& o) {
  describe_symmetry(table, o.symmetric);
  table.add(
      "base", o.base,
      {{"auto", io::IndexBase::kAuto}, {"0", io::IndexBase::kZero}, {"1", io::IndexBase::kOne}},
      "First index of the file");
  table.add("shape", o.shape, "Rows and columns of X").default_is("the largest indices");
  describe(table, o.method);
}

CompleteResult complete(const CompleteInput& input, const CompleteOptions& options,
                        Session& session) {
  check_settings(options);
  return complete_task(read_task(input, options), options, session);
}

CompleteResult complete(const CompleteData& data, const CompleteOptions& options,
                        Session& session) {
  check_settings(options);
  check_entries("entries", data.entries);
  Task task;
  task.data = data;
  task.data.entries.symmetric = task.data.entries.symmetric || options.symmetric != Symmetry::kOff;
  return complete_task(std::move(task), options, session);
}

}  // namespace udv::jobs

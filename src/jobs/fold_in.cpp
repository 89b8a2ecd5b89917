// SPDX-License-Identifier: MIT
#include "udv/jobs/fold_in.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "core/require.hpp"
#include "jobs/complete_input.hpp"
#include "jobs/completion_run.hpp"
#include "jobs/fill.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

/// Everything that the files say.
struct NewRows {
  CompletionRun run;
  io::EntriesFile file;
  std::vector<std::pair<Index, Index>> pairs;
  std::vector<Index> wanted;
  std::vector<std::string> warnings;
};

io::EntriesOptions entries_options(const TableInput& input, const NewRows& rows) {
  io::EntriesOptions how = reader_options(input);
  how.known_cols = &rows.run.columns;
  how.cols = rows.run.answer.cols;
  how.keyed = true;
  return how;
}

NewRows read_rows_and_run(const FoldInInput& input, const FoldInOptions& options) {
  NewRows rows;
  check_other_file(options.output.fill, input.file);
  rows.run = read_completion(input.run);
  rows.file = io::read_entries_file(input.file, entries_options(options.input, rows));
  rows.warnings = rows.file.warnings;
  const Index left_out = rows.file.left_out, all = left_out + rows.file.entries.size();
  if (left_out > 0)
    rows.warnings.push_back(
        fmt::format("{}: {} of {} entries lie in columns that the run does not have, and are left "
                    "out",
                    input.file, left_out, all));
  const Index count = rows.file.entries.rows;
  require<IoError>(count > 0, input.file, ": no new rows found, at least one expected");
  check_output(options.output, count, rows.run.answer.cols);
  const io::Keys row_keys = keys_or_numbers(rows.file.row_keys, count, rows.file.base);
  if (!input.predict.empty()) {
    io::PairsFile pairs = io::read_pairs(input.predict, row_keys, rows.run.columns,
                                         {options.input.row, options.input.column});
    rows.pairs = std::move(pairs.pairs);
    rows.warnings.insert(rows.warnings.end(), pairs.warnings.begin(), pairs.warnings.end());
  }
  if (!options.output.rows.empty()) rows.wanted = io::read_lines_of(options.output.rows, row_keys);
  return rows;
}

CompletedRows completed_rows(const LearnedColumns& columns, const FoldedRows& folded) {
  CompletedRows result;
  result.rows = folded.t.rows();
  result.cols = columns.cols();
  result.row = [&](Index i, Vector<double>& values) {
    values.noalias() = columns.features * folded.t.row(i).transpose();
    values += columns.offsets;
    keep_in_range(columns.range, values);
    for (Index j = 0; j < values.size(); ++j)
      if (columns.empty[static_cast<std::size_t>(j)])
        values(j) = std::numeric_limits<double>::quiet_NaN();
  };
  result.determined = [&](Index i, Index j) { return folded.determined(columns, i, j); };
  result.deviation = [&](Index i, Index j) { return folded.deviation(columns, i, j); };
  return result;
}

std::vector<Prediction> predict(const LearnedColumns& columns, const FoldedRows& folded,
                                const std::vector<std::pair<Index, Index>>& pairs) {
  std::vector<Prediction> predictions;
  for (const auto& [i, j] : pairs) {
    Prediction& p = predictions.emplace_back();
    p.row = i;
    p.col = j;
    p.has_data = !columns.empty[static_cast<std::size_t>(j)];
    p.determined = folded.determined(columns, i, j);
    if (p.has_data) p.value = folded.predict(columns, i, j);
    p.deviation = folded.deviation(columns, i, j);
  }
  return predictions;
}

// U with U diag(d) = t, and the offsets of the new rows.
void write_factors(RunFolder& folder, const Recovery& answer, const FoldedRows& folded,
                   bool has_biases) {
  const Index rank = answer.d.size();
  RowMatrix<double> U = folded.t.leftCols(rank);
  for (Index k = 0; k < rank; ++k)
    if (answer.d(k) != 0) U.col(k) /= answer.d(k);
  io::write_npy(folder.file("U.npy"), U);
  if (has_biases) io::write_npy(folder.file("offsets.npy"), Vector<double>(folded.t.col(rank)));
}

void write_results(Run& run, const NewRows& rows, const FoldInOptions& options,
                   const FoldInResult& result) {
  const LineNames names{result.row_keys, rows.run.columns, rows.file.base};
  const CompletedRows matrix = completed_rows(result.columns, result.rows);
  const KnownRows known(rows.file.entries);
  if (!options.output.fill.empty())
    write_fill(options.output, matrix, known, rows.file.form, names);
  if (!run.has_folder()) return;
  RunFolder& folder = run.folder();
  write_factors(folder, rows.run.answer, result.rows, result.columns.has_row_biases);
  if (!result.row_keys.empty())
    io::write_atomically(folder.file("rows.csv"), io::keys_csv(result.row_keys));
  if (!rows.pairs.empty())
    io::write_atomically(folder.file("predictions.csv"),
                         predictions_csv(result.predictions, names));
  if (options.output.recommend > 0)
    write_recommendations(folder.file("recommendations.csv"), options.output, rows.wanted, matrix,
                          known, names);
  write_run_json(folder, run.info(),
                 {{"rows", result.rows.t.rows()},
                  {"cols", result.columns.cols()},
                  {"measurements", result.entries},
                  {"rank", rows.run.answer.d.size()},
                  {"noise_sigma", number(result.columns.noise_sigma)},
                  {"undetermined_rows", result.rows.open.size()},
                  {"seconds", result.seconds}});
}

// A folder of results that would replace the run itself.
void check_folder(const Session& session, const std::string& run) {
  if (!session.has_folder()) return;
  std::error_code unknown;
  require<IoError>(!fs::equivalent(session.options().out, run, unknown), session.options().out,
                   ": the run itself found, another folder for the results expected");
}

}  // namespace

void describe(OptionTable& table, FoldInInput& input) {
  table.add("run", input.run, "Folder of a completion").is_input().called("RUN");
  table.add("file", input.file, "Entries of new rows: text, .npy, .npz, .mat, .h5, .mtx")
      .is_input()
      .called("FILE");
  table.add("predict", input.predict, "Pairs row,column to predict (predictions.csv)")
      .called("FILE")
      .keeps_numbers();
}

void describe(OptionTable& table, FoldInOptions& options) {
  describe(table, options.input);
  describe(table, options.output);
}

FoldInResult fold_in(const FoldInInput& input, const FoldInOptions& given, Session& session) {
  FoldInInput names = input;
  FoldInOptions options = given;
  check_folder(session, input.run);
  const EarlyFolder early(session);
  NewRows rows = read_rows_and_run(input, options);
  OptionTable table;
  describe(table, names);
  describe(table, options);
  for (const std::string& notice : rows.file.notices) session.notice(notice);
  Run run(session, "fold-in", table.config(), table.fingerprint());
  for (const std::string& warning : rows.warnings) run.warn(warning);
  FoldInResult result;
  const auto start = std::chrono::steady_clock::now();
  result.columns = learned_columns(rows.run.answer);
  const bool with_spread = !rows.pairs.empty() || options.output.recommend > 0;
  result.rows = udv::fold_in(result.columns, rows.file.entries, with_spread);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.entries = rows.file.entries.size();
  result.row_keys = rows.file.row_keys;
  if (rows.run.has_keys) result.col_keys = rows.run.columns;
  result.predictions = predict(result.columns, result.rows, rows.pairs);
  if (!result.rows.open.empty())
    run.warn(
        fmt::format("{} of {} new rows have too few entries for rank {}: shrunken towards the "
                    "mean row, not determined by the data",
                    result.rows.open.size(), result.rows.t.rows(), rows.run.answer.d.size()));
  write_results(run, rows, options, result);
  result.folder = run.path();
  result.warnings = run.info().warnings;
  return result;
}

}  // namespace udv::jobs

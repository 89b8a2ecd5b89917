// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/centering.hpp"

namespace udv::cli {
namespace {

const std::map<std::string, Centering> kCenterings{{"none", Centering::kNone},
                                                   {"global", Centering::kGlobal},
                                                   {"rows", Centering::kRows},
                                                   {"cols", Centering::kCols},
                                                   {"both", Centering::kBoth}};

constexpr Index kMaxLines = 50'000'000;

struct CompleteFlags {
  CommonFlags common;
  RecoveryFlags recovery;
  std::string file, test, predict, base = "auto", center = "none";
  ShapeFlag shape;
  bool symmetric = false;
};

using Pairs = std::vector<std::pair<Index, Index>>;

// Everything that was read; all of it before anything is solved or written.
struct Input {
  io::EntriesFile file;
  Biases biases;
  Entries test;
  Pairs pairs;
};

io::EntriesOptions reader_options(const CompleteFlags& flags) {
  io::EntriesOptions options;
  options.base = flags.base == "0"   ? io::IndexBase::kZero
                 : flags.base == "1" ? io::IndexBase::kOne
                                     : io::IndexBase::kAuto;
  options.symmetric = flags.symmetric;
  if (const auto shape = flags.shape.value()) std::tie(options.rows, options.cols) = *shape;
  if (options.symmetric && options.rows != options.cols)
    throw CLI::ValidationError("--shape", "a square expected with --symmetric");
  return options;
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
  require<IoError>(entries.rows + entries.cols <= kMaxLines, path, ": the matrix is ", entries.rows,
                   " x ", entries.cols, ", at most ", kMaxLines,
                   " rows and columns together expected; is an index wrong?");
  const bool zero = std::all_of(entries.value.begin(), entries.value.end(),
                                [](double value) { return value == 0; });
  require<IoError>(!zero, path, ": all ", entries.size(),
                   " values are zero, at least one other "
                   "expected");
  check_magnitude(path, largest_magnitude(entries));
}

bool is_matrix_market(const std::string& path) {
  return path.ends_with(".mtx") || path.ends_with(".mtx.gz");
}

void center(const CompleteFlags& flags, Input& input) {
  const double before = largest_magnitude(input.file.entries);
  input.file.entries = centered(std::move(input.file.entries), input.biases);
  require<IoError>(largest_magnitude(input.file.entries) > 1e-12 * before, flags.file,
                   ": nothing is left to recover after --center ", flags.center,
                   ": the fitted means explain all values");
}

Input read_input(const CompleteFlags& flags) {
  Input input;
  input.file = io::read_entries_file(flags.file, reader_options(flags));
  Entries& entries = input.file.entries;
  check_entries(flags.file, entries);
  if (!flags.test.empty()) {
    io::EntriesOptions options = reader_options(flags);
    // Matrix Market files count from 1 whatever the data do.
    const bool counts_from_one = input.file.base == 1 || is_matrix_market(flags.test);
    options.base = counts_from_one ? io::IndexBase::kOne : io::IndexBase::kZero;
    options.rows = entries.rows;
    options.cols = entries.cols;
    input.test = io::read_entries(flags.test, options);
  }
  if (!flags.predict.empty())
    input.pairs = io::read_pairs(flags.predict, input.file.base, entries.rows, entries.cols);
  input.biases = fit_biases(entries, kCenterings.at(flags.center));
  if (flags.center != "none") center(flags, input);
  return input;
}

// Lines of a matrix as a look-up table.
std::vector<char> marked(Index size, const std::vector<Index>& which) {
  std::vector<char> marks(static_cast<size_t>(size), 0);
  for (const Index i : which) marks[static_cast<size_t>(i)] = 1;
  return marks;
}

// What the data say about single entries of X.
class Knowledge {
 public:
  Knowledge(const Recovery& r)
      : empty_row_(marked(r.rows, r.undetermined.empty_rows)),
        empty_col_(
            marked(r.cols, r.symmetric ? r.undetermined.empty_rows : r.undetermined.empty_cols)),
        row_block_(blocks(r.rows, r.undetermined, r.undetermined.rows, true)),
        col_block_(r.symmetric ? row_block_
                               : blocks(r.cols, r.undetermined, r.undetermined.cols, false)) {}

  bool has_data(Index i, Index j) const { return !empty_row_[at(i)] && !empty_col_[at(j)]; }
  bool determined(Index i, Index j) const {
    return has_data(i, j) && row_block_[at(i)] >= 0 && row_block_[at(i)] == col_block_[at(j)];
  }

 private:
  static size_t at(Index i) { return static_cast<size_t>(i); }

  // Number of the block each line belongs to, -1 where it is open itself.
  static std::vector<int> blocks(Index size, const Undetermined& open,
                                 const std::vector<Index>& lines, bool rows) {
    std::vector<int> block(at(size), 0);
    for (const Index i : lines) block[at(i)] = -1;
    for (size_t b = 0; b < open.blocks.size(); ++b)
      for (const Index i : rows ? open.blocks[b].first : open.blocks[b].second)
        block[at(i)] = static_cast<int>(b) + 1;
    return block;
  }

  std::vector<char> empty_row_, empty_col_;
  std::vector<int> row_block_, col_block_;
};

double predicted(const Recovery& recovery, const Biases& biases, Index i, Index j) {
  return recovery.predict(i, j) + biases.at(i, j);
}

// Root mean square error on the test entries whose row and column have data.
void measure_test(const Input& input, const Knowledge& knowledge, Recovery& recovery) {
  double squares = 0;
  Index counted = 0;
  for (size_t t = 0; t < input.test.value.size(); ++t) {
    const Index i = input.test.row[t], j = input.test.col[t];
    if (!knowledge.has_data(i, j)) continue;
    const double error = predicted(recovery, input.biases, i, j) - input.test.value[t];
    squares += error * error;
    ++counted;
  }
  if (counted > 0) recovery.test_rmse = std::sqrt(squares / static_cast<double>(counted));
  if (counted < input.test.size())
    warn(fmt::format("{} of {} test entries lie in rows or columns without data and are left out",
                     input.test.size() - counted, input.test.size()));
}

// row,column,value,determined; no value where the row or column has no data.
std::string predictions_csv(const Input& input, const Knowledge& knowledge,
                            const Recovery& recovery) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,determined\n");
  for (const auto& [i, j] : input.pairs) {
    fmt::format_to(out, "{},{},", i + input.file.base, j + input.file.base);
    if (knowledge.has_data(i, j))
      fmt::format_to(out, "{:.17g}", predicted(recovery, input.biases, i, j));
    fmt::format_to(out, ",{}\n", knowledge.determined(i, j) ? 1 : 0);
  }
  return fmt::to_string(text);
}

void write_biases(const std::filesystem::path& path, const Biases& biases) {
  const auto array = [](const Vector<double>& values) {
    return io::Array{{values.size()}, {values.begin(), values.end()}};
  };
  io::write_npz(path, {{"global", {{}, {biases.global}}},
                       {"rows", array(biases.row)},
                       {"cols", array(biases.col)}});
}

ExitCode run_complete(const CompleteFlags& flags) {
  if (flags.symmetric && flags.center != "none")
    throw CLI::ValidationError("--center", "goes with rectangular problems, not with --symmetric");
  flags.recovery.options(flags.common.seed);
  flags.shape.value();
  const auto input = std::make_shared<Input>(read_input(flags));
  for (const auto& warning : input->file.warnings) warn(warning);
  RecoveryJob job;
  job.command = "complete";
  job.problem = completion(input->file.entries);
  job.info.index_base = input->file.base;
  job.info.warnings = input->file.warnings;
  job.info.config["file"] = flags.file;
  job.info.config["symmetric"] = flags.symmetric;
  job.info.config["base"] = static_cast<std::int64_t>(input->file.base);
  job.info.config["center"] = flags.center;
  if (!flags.test.empty()) job.info.config["test"] = flags.test;
  if (!flags.predict.empty()) job.info.config["predict"] = flags.predict;
  job.finish = [input, &flags](Recovery& recovery, RecoveryJob&,
                               const std::filesystem::path& folder) {
    const Knowledge knowledge(recovery);
    if (!flags.test.empty()) measure_test(*input, knowledge, recovery);
    if (!flags.predict.empty())
      io::write_atomically(folder / "predictions.csv",
                           predictions_csv(*input, knowledge, recovery));
    if (flags.center != "none") write_biases(folder / "center.npz", input->biases);
  };
  return run_recovery(std::move(job), flags.common, flags.recovery);
}

}  // namespace

Run setup_complete(CLI::App& program) {
  auto flags = std::make_shared<CompleteFlags>();
  CLI::App& command = *program.add_subcommand("complete", "Fill in a matrix from some entries");
  command
      .add_option("file", flags->file,
                  "Entries: .mtx, text triplets (.csv, .tsv, .txt), .npy with NaN; also .gz")
      ->required();
  command.add_flag("--symmetric", flags->symmetric, "X is symmetric, positive semidefinite");
  command.add_option("--base", flags->base, "First index of the file: auto, 0 or 1")
      ->check(CLI::IsMember({"auto", "0", "1"}))
      ->capture_default_str();
  flags->shape.add_to(command, "Default: the largest indices");
  command
      .add_option("--center", flags->center,
                  "Subtract fitted means first: none, global, rows, cols, both")
      ->check(CLI::IsMember({"none", "global", "rows", "cols", "both"}))
      ->capture_default_str();
  command.add_option("--test", flags->test, "Entries to measure the error on (test_rmse)");
  command.add_option("--predict", flags->predict,
                     "Pairs row,column to predict (predictions.csv in --out)");
  flags->common.add_to(command);
  flags->recovery.add_to(command);
  return [flags] { return run_complete(*flags); };
}

}  // namespace udv::cli

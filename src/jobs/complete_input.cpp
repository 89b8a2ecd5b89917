// SPDX-License-Identifier: MIT
#include "jobs/complete_input.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <tuple>

#include "core/communicator.hpp"
#include "core/machine.hpp"
#include "core/require.hpp"
#include "io/shared_entries.hpp"
#include "jobs/fill.hpp"
#include "jobs/more_data.hpp"
#include "recover/spread_completion.hpp"

namespace udv::jobs {
namespace {

bool is_matrix_market(const std::string& path) {
  return path.ends_with(".mtx") || path.ends_with(".mtx.gz");
}

// Arrays and Matrix Market files have places, no keys.
bool is_array(std::string path) {
  if (path.ends_with(".gz")) path.resize(path.size() - 3);
  for (const char* const ending : {".mtx", ".npy", ".npz", ".mat", ".h5", ".hdf5"})
    if (path.ends_with(ending)) return true;
  return false;
}

bool has_keys(const CompleteData& data) {
  return !data.row_keys.empty() || !data.col_keys.empty();
}

io::EntriesOptions entries_options(const CompleteOptions& options) {
  io::EntriesOptions how = reader_options(options.input);
  how.base = options.base;
  how.symmetric = options.symmetric != Symmetry::kOff;
  if (options.shape) std::tie(how.rows, how.cols) = *options.shape;
  return how;
}

// Large files take seconds.
io::EntriesFile read_with_bar(const std::string& path, io::EntriesOptions how, Listener& listener) {
  constexpr double kMegabyte = 1e6;
  constexpr std::uintmax_t kLarge = 50'000'000;
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (unknown || bytes < kLarge) return io::read_entries_file(path, how);
  const double megabytes = static_cast<double>(bytes) / kMegabyte;
  const auto start = std::chrono::steady_clock::now();
  how.progress = [&](double share) {
    IterationRecord record;
    record.iteration = static_cast<Index>(share * megabytes);
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    listener.progress(record);
  };
  listener.begin({static_cast<Index>(megabytes), 0}, {"MB read", "", ""});
  try {
    io::EntriesFile file = io::read_entries_file(path, how);
    listener.end();
    return file;
  } catch (...) {
    listener.end();
    throw;
  }
}

bool has_repeats(const Entries& sorted) {
  for (std::size_t t = 1; t < sorted.row.size(); ++t)
    if (sorted.row[t] == sorted.row[t - 1] && sorted.col[t] == sorted.col[t - 1]) return true;
  return false;
}

// By several processes, each a part of a large file. Nothing where each has to read all of it.
std::optional<io::EntriesFile> read_together(const std::string& path,
                                             const CompleteOptions& options, bool& spread) {
  const Centering center = options.method.center;
  const bool usual = options.folds == 0 && options.symmetric == Symmetry::kOff &&
                     (center == Centering::kAuto || center == Centering::kNone);
  if (communicator().is_alone() || !usual) return std::nullopt;
  auto file = io::read_shared_entries(path, entries_options(options));
  if (!file) return std::nullopt;
  file->entries = own_rows_of(file->entries);
  Index sums[] = {file->entries.size(), has_repeats(file->entries) ? 1 : 0};
  communicator().sum(sums, 2);
  if (sums[1] > 0) {  // messages about them name lines of the whole file
    require<IoError>(sums[0] <= most_entries(), path, ": ", sums[0],
                     " entries found, some of them twice; each once expected");
    return std::nullopt;
  }
  spread = can_be_spread(sums[0], false, false, options.method);
  if (!spread) file->entries = rows_of_all(file->entries);
  return file;
}

void read_keyed_test(const io::EntriesOptions& options, CompleteTask& task) {
  const CompleteData& data = task.data;
  const io::Keys rows = keys_or_numbers(data.row_keys, data.entries.rows, data.index_base);
  const io::Keys cols = keys_or_numbers(data.col_keys, data.entries.cols, data.index_base);
  io::EntriesOptions how = options;
  how.rows = how.cols = 0;
  how.base = io::IndexBase::kAuto;
  how.known_rows = &rows;
  how.known_cols = &cols;
  io::EntriesFile file = io::read_entries_file(task.names.test, how);
  require<IoError>(file.entries.rows == rows.size() && file.entries.cols == cols.size(),
                   task.names.test, ": ", file.entries.rows, " x ", file.entries.cols,
                   " matrix found, ", rows.size(), " x ", cols.size(), " expected");
  if (file.left_out > 0)
    task.warnings.push_back(
        fmt::format("{}: {} of {} test entries have keys without data and are left out",
                    task.names.test, file.left_out, file.left_out + file.entries.size()));
  task.data.test = std::move(file.entries);
}

void read_test(const CompleteOptions& options, CompleteTask& task) {
  io::EntriesOptions how = entries_options(options);
  how.weight = how.std = "";  // every test entry counts alike
  const CompleteData& data = task.data;
  const bool by_place = is_array(task.names.test);
  if (has_keys(data) && !by_place) return read_keyed_test(how, task);
  if (by_place) how.row = how.column = how.value = "";
  // Matrix Market files count from 1 whatever the data do.
  const bool counts_from_one = data.index_base == 1 || is_matrix_market(task.names.test);
  how.base = counts_from_one ? io::IndexBase::kOne : io::IndexBase::kZero;
  how.rows = data.entries.rows;
  how.cols = data.entries.cols;
  task.data.test = io::read_entries(task.names.test, how);
}

void read_pairs(const TableInput& input, CompleteTask& task) {
  CompleteData& data = task.data;
  const auto [rows, cols] = std::pair(data.entries.rows, data.entries.cols);
  if (!has_keys(data)) {
    data.pairs =
        io::read_pairs(task.names.predict, data.index_base, rows, cols, {input.row, input.column});
    return;
  }
  io::PairsFile file = io::read_pairs(
      task.names.predict, keys_or_numbers(data.row_keys, rows, data.index_base),
      keys_or_numbers(data.col_keys, cols, data.index_base), {input.row, input.column});
  data.pairs = std::move(file.pairs);
  task.warnings.insert(task.warnings.end(), file.warnings.begin(), file.warnings.end());
}

}  // namespace

io::Keys keys_or_numbers(const io::Keys& keys, Index count, int base) {
  return keys.empty() ? io::number_keys(count, base) : keys;
}

std::vector<Index> read_rows(const std::string& path, const CompleteData& data) {
  return io::read_lines_of(path,
                           keys_or_numbers(data.row_keys, data.entries.rows, data.index_base));
}

void check_keys(const CompleteData& data) {
  const auto check = [](const char* what, const io::Keys& keys, Index lines) {
    require(keys.empty() || keys.size() == lines, "CompleteData: ", keys.size(), " keys for ",
            lines, " ", what, " found");
  };
  check("rows", data.row_keys, data.entries.rows);
  check("columns", data.col_keys, data.entries.cols);
}

CompleteTask read_task(const CompleteInput& input, const CompleteOptions& options,
                       Session& session) {
  CompleteTask task;
  task.names = input;
  task.output = options.output;
  check_other_file(options.output.fill, input.file);
  if (!input.from.empty()) {
    read_more(input, entries_options(options), task);
    return task;
  }
  io::EntriesFile file;
  if (auto shared = read_together(input.file, options, task.spread))
    file = std::move(*shared);
  else
    file = read_with_bar(input.file, entries_options(options), session.listener());
  task.inputs = {std::filesystem::absolute(input.file).string()};
  task.data.entries = std::move(file.entries);
  task.data.index_base = file.base;
  task.data.row_keys = std::move(file.row_keys);
  task.data.col_keys = std::move(file.col_keys);
  task.data.form = file.form;
  task.warnings = std::move(file.warnings);
  task.notices = std::move(file.notices);
  return task;
}

void read_companions(const CompleteOptions& options, CompleteTask& task) {
  if (!task.names.test.empty()) read_test(options, task);
  if (!task.names.predict.empty()) read_pairs(options.input, task);
  if (!options.output.rows.empty()) task.rows = read_rows(options.output.rows, task.data);
}

}  // namespace udv::jobs

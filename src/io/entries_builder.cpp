// SPDX-License-Identifier: MIT
#include "entries_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/machine.hpp"
#include "core/require.hpp"
#include "text.hpp"

namespace udv::io::detail {
namespace {

constexpr Index kLargestSize = Index{std::numeric_limits<std::int32_t>::max()} + 1;

/// One number per place, ordered by (row, col): indices are never negative.
std::uint64_t key(const Record& record) {
  return static_cast<std::uint64_t>(record.row) << 32 | static_cast<std::uint64_t>(record.col);
}

bool same_place(const Record& a, const Record& b) {
  return key(a) == key(b);
}

/// By place; then the entry above the diagonal before its mirror image; then as in the file.
bool comes_before(const Record& a, const Record& b) {
  if (key(a) != key(b)) return key(a) < key(b);
  if (a.mirrored != b.mirrored) return a.mirrored < b.mirrored;
  return a.line < b.line;
}

/// Moves records to the places of their rows, without a second copy; start[i] is the first of row
/// i. Each swap brings one record to its row.
std::vector<std::size_t> group_by_row(std::vector<Record>& records, std::size_t rows) {
  std::vector<std::size_t> start(rows + 1);
  for (const Record& record : records) ++start[static_cast<std::size_t>(record.row) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < rows; ++i)
    while (next[i] < start[i + 1]) {
      Record& record = records[next[i]];
      const auto row = static_cast<std::size_t>(record.row);
      if (row == i)
        ++next[i];
      else
        std::swap(record, records[next[row]++]);
    }
  return start;
}

/// Rows first, in linear time where there are not too many; then each by itself.
void sort_records(std::vector<Record>& records) {
  if (std::is_sorted(records.begin(), records.end(), comes_before)) return;
  std::int32_t last = 0;
  for (const Record& record : records) last = std::max(last, record.row);
  const auto rows = static_cast<std::size_t>(last) + 1;
  if (rows > records.size()) return std::sort(records.begin(), records.end(), comes_before);
  const std::vector<std::size_t> start = group_by_row(records, rows);
  for (std::size_t i = 0; i < rows; ++i)
    std::sort(records.begin() + static_cast<std::ptrdiff_t>(start[i]),
              records.begin() + static_cast<std::ptrdiff_t>(start[i + 1]), comes_before);
}

void fold_below_diagonal(std::vector<Record>& records) {
  for (Record& record : records) {
    if (record.row <= record.col) continue;
    std::swap(record.row, record.col);
    record.mirrored = 1;
  }
}

std::string line_text(int base, const Keys* keys, Index index) {
  return keys == nullptr || keys->empty() ? message(index + base) : in_quotes((*keys)[index]);
}

/// The position as the file has it, before any swap.
std::string place_in_file(const MatrixFrame& frame, const Record& record) {
  const Index row = record.mirrored ? record.col : record.row;
  const Index col = record.mirrored ? record.row : record.col;
  return message("(", line_text(frame.base, frame.row_keys, row), ", ",
                 line_text(frame.base, frame.col_keys, col), ")");
}

[[noreturn]] void fail_on_conflict(const MatrixFrame& frame, const Record& a, const Record& b) {
  const Record& first = a.line < b.line ? a : b;
  const Record& second = a.line < b.line ? b : a;
  const bool mirror_images = a.mirrored != b.mirrored;
  throw IoError(message(
      frame.name, ":", second.line, ": ", mirror_images ? "the file is not symmetric: " : "",
      place_in_file(frame, second), " has value ", exact_text(second.value), " but ",
      place_in_file(frame, first), " has ", exact_text(first.value), " in line ", first.line,
      mirror_images ? ", equal values expected" : ", one value expected"));
}

/// Keeps the first record of each place, refuses conflicts, returns the number of literal repeats.
std::size_t merge_repeats(const MatrixFrame& frame, std::vector<Record>& records) {
  std::size_t repeats = 0;
  for (std::size_t k = 1; k < records.size(); ++k) {
    const Record& a = records[k - 1];
    const Record& b = records[k];
    if (!same_place(a, b)) continue;
    const bool literal = a.mirrored == b.mirrored;
    const bool agree = literal ? a.value == b.value : equal_mirror_images(a.value, b.value);
    if (!agree) fail_on_conflict(frame, a, b);
    repeats += literal;
  }
  records.erase(std::unique(records.begin(), records.end(), same_place), records.end());
  return repeats;
}

Entries to_entries(const std::vector<Record>& records, Index rows, Index cols, bool symmetric,
                   const std::vector<double>& weights = {}) {
  Entries entries{rows, cols, symmetric, {}, {}, {}};
  entries.row.reserve(records.size());
  entries.col.reserve(records.size());
  entries.value.reserve(records.size());
  for (const Record& record : records) {
    entries.row.push_back(record.row);
    entries.col.push_back(record.col);
    entries.value.push_back(record.value);
    if (!weights.empty()) entries.weight.push_back(weights[record.line]);
  }
  return entries;
}

}  // namespace

std::string position_text(int base, Index row, Index col) {
  return message("(", row + base, ", ", col + base, ")");
}

void validate(const EntriesOptions& options) {
  require(options.rows >= 0 && options.cols >= 0, "EntriesOptions: ", options.rows, " rows and ",
          options.cols, " columns found, 0 (from the file) or more expected");
  const bool square = options.rows == options.cols || options.rows == 0 || options.cols == 0;
  require(square || !options.symmetric, "EntriesOptions: ", options.rows, " rows and ",
          options.cols, " columns found, a square matrix expected where symmetric");
}

void require_sizes(const std::string& position, Index rows, Index cols,
                   const EntriesOptions& options) {
  const std::string found = message(position, ": ", rows, " x ", cols, " matrix found, ");
  require<IoError>(rows > 0 && cols > 0, found, "at least 1 x 1 expected");
  require<IoError>(rows <= kLargestSize && cols <= kLargestSize, found, "at most ", kLargestSize,
                   " rows and columns expected");
  require<IoError>(rows == cols || !options.symmetric, found, "a square one expected");
  require<IoError>(options.rows == 0 || options.rows == rows, found, options.rows,
                   " rows expected");
  require<IoError>(options.cols == 0 || options.cols == cols, found, options.cols,
                   " columns expected");
}

bool equal_mirror_images(double a, double b) {
  constexpr double kRelativeTolerance = 1e-12;
  return std::abs(a - b) <= kRelativeTolerance * std::max(std::abs(a), std::abs(b));
}

void require_number_of_entries(const std::string& name, std::size_t lines) {
  const auto most = static_cast<std::size_t>(most_entries());
  require<IoError>(lines <= most, name, ": about ", lines, " entries found, at most ", most,
                   " in one process expected; leave some out, complete parts of the matrix, or "
                   "share noisy ones among processes");
}

EntriesFile assemble(const MatrixFrame& frame, std::vector<Record> records,
                     const std::vector<double>& weights) {
  if (frame.symmetric) fold_below_diagonal(records);
  sort_records(records);
  const std::size_t repeats = merge_repeats(frame, records);
  EntriesFile file{
      to_entries(records, frame.rows, frame.cols, frame.symmetric, weights), frame.base, {}};
  if (repeats > 0) {
    file.warnings.push_back(message(frame.name, ": ", count_text(repeats, "repeated line"),
                                    " with equal values found, each entry kept once"));
  }
  return file;
}

Entries expand_symmetric(const Entries& entries) {
  std::vector<Record> records;
  records.reserve(2 * entries.value.size());
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    const std::int32_t row = entries.row[k];
    const std::int32_t col = entries.col[k];
    records.push_back({row, col, entries.value[k]});
    if (row != col) records.push_back({col, row, entries.value[k]});
  }
  sort_records(records);
  return to_entries(records, entries.rows, entries.cols, false);
}

}  // namespace udv::io::detail

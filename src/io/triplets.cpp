// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/require.hpp"
#include "entries_builder.hpp"
#include "table.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace detail {
namespace {

/// Entries with the indices of the file, and what is known once all are read.
struct Triplets {
  std::vector<Record> records;
  bool has_zero = false;
  std::int32_t max_row = 0;
  std::int32_t max_col = 0;
};

std::int32_t parse_index_from(const Table& table, std::size_t k, std::int32_t base,
                              std::string_view what) {
  const std::int32_t index = parse_index(table.line(), table.field(k), what);
  if (index < base) {
    table.line().fail(what, " ", index, " found, ", base, " or more expected (counted from ", base,
                      ")");
  }
  return index;
}

Record parse_record(const Table& table, std::int32_t base) {
  Record record;
  record.row = parse_index_from(table, 0, base, "row index");
  record.col = parse_index_from(table, 1, base, "column index");
  record.value = parse_value(table.line(), table.field(2), "value");
  record.line = static_cast<std::uint64_t>(table.line().number());
  return record;
}

/// Never more than the text can hold: its shortest line is "1 1 1\n".
std::size_t estimated_lines(std::string_view text) {
  const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return std::min(newlines + 1, text.size() / 6 + 1);
}

Triplets parse_triplets(Table& table, std::string_view text, IndexBase base) {
  Triplets triplets;
  triplets.records.reserve(estimated_lines(text));
  while (table.next()) {
    const Record record = parse_record(table, base == IndexBase::kOne ? 1 : 0);
    triplets.has_zero |= record.row == 0 || record.col == 0;
    triplets.max_row = std::max(triplets.max_row, record.row);
    triplets.max_col = std::max(triplets.max_col, record.col);
    triplets.records.push_back(record);
  }
  if (triplets.records.empty()) table.fail_without_data();
  return triplets;
}

int base_of(const Triplets& triplets, IndexBase base) {
  if (base == IndexBase::kAuto) return triplets.has_zero ? 0 : 1;
  return base == IndexBase::kOne ? 1 : 0;
}

MatrixFrame frame_of(const std::string& name, const Triplets& triplets,
                     const EntriesOptions& options) {
  MatrixFrame frame{name, base_of(triplets, options.base), options.rows, options.cols,
                    options.symmetric};
  if (frame.rows == 0) frame.rows = Index{triplets.max_row} + 1 - frame.base;
  if (frame.cols == 0) frame.cols = Index{triplets.max_col} + 1 - frame.base;
  if (!frame.symmetric) return frame;
  const Index given = std::max(options.rows, options.cols);
  frame.rows = frame.cols = given > 0 ? given : std::max(frame.rows, frame.cols);
  return frame;
}

[[noreturn]] void fail_outside(const MatrixFrame& frame, const Record& record) {
  throw IoError(message(frame.name, ":", record.line, ": entry ",
                        position_text(frame.base, record.row, record.col),
                        " found, a place inside ", frame.rows, " x ", frame.cols,
                        " expected (counted from ", frame.base, ")"));
}

void move_to_base_zero(const MatrixFrame& frame, std::vector<Record>& records) {
  for (Record& record : records) {
    record.row -= frame.base;
    record.col -= frame.base;
    if (record.row >= frame.rows || record.col >= frame.cols) fail_outside(frame, record);
  }
}

}  // namespace

EntriesFile read_triplets(const std::string& name, std::string_view text,
                          const EntriesOptions& options) {
  Table table(name, text, {"row", "column", "value"});
  Triplets triplets = parse_triplets(table, text, options.base);
  const MatrixFrame frame = frame_of(name, triplets, options);
  move_to_base_zero(frame, triplets.records);
  EntriesFile file = assemble(frame, std::move(triplets.records));
  const std::string ignored = table.ignored_columns();
  if (!ignored.empty()) file.warnings.insert(file.warnings.begin(), message(name, ": ", ignored));
  return file;
}

}  // namespace detail

std::vector<std::pair<Index, Index>> read_pairs(const std::filesystem::path& path, int base,
                                                Index rows, Index cols) {
  const std::string text = read_bytes(path);
  detail::Table table(path.string(), text, {"row", "column"});
  std::vector<std::pair<Index, Index>> pairs;
  while (table.next()) {
    const Index row = detail::parse_index_from(table, 0, base, "row index") - base;
    const Index col = detail::parse_index_from(table, 1, base, "column index") - base;
    if (row >= rows || col >= cols) {
      table.line().fail("pair ", detail::position_text(base, row, col), " found, a place inside ",
                        rows, " x ", cols, " expected (counted from ", base, ")");
    }
    pairs.emplace_back(row, col);
  }
  if (pairs.empty()) table.fail_without_data();
  return pairs;
}

}  // namespace udv::io

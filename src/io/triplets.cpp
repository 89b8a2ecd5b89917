// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "entries_builder.hpp"
#include "keyed_triplets.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace detail {
namespace {

/// Entries with the indices of the file, and what is known once all are read.
struct Triplets {
  std::vector<Record> records;
  std::vector<double> weights;  // by line; empty: none
  bool has_zero = false;
  bool has_keys = false;  // reading stopped at one: all of them are keys
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

/// A word, or a whole number beyond 32 bits: no index, but a key like any other. Fractions and
/// negative numbers are none: their column is hardly one of keys.
bool is_key(std::string_view field) {
  if (field.empty()) return false;
  if (!is_number(field)) return true;
  return field.size() > 9 && field.find_first_not_of("0123456789") == field.npos;
}

bool is_small_index(std::string_view field) {
  std::int32_t index = -1;
  return parse_all(field, index) && index >= 0;
}

Record parse_record(const Table& table, const TripletColumns& columns, std::int32_t base) {
  Record record;
  record.row = parse_index_from(table, columns.row, base, "row index");
  record.col = parse_index_from(table, columns.col, base, "column index");
  record.value = parse_value(table.line(), table.field(columns.value), "value");
  record.line = static_cast<std::uint64_t>(table.line().number());
  return record;
}

bool has_key(const Table& table, const TripletColumns& columns) {
  for (const std::size_t k : {columns.row, columns.col})
    if (!is_small_index(table.field(k)) && is_key(table.field(k))) return true;
  return false;
}

/// The first three columns of three, as in most files.
bool are_plain(const Table& table, const TripletColumns& columns) {
  return table.width() == 3 && columns.row == 0 && columns.col == 1 && columns.value == 2;
}

void add(Triplets& triplets, const Record& record) {
  triplets.has_zero |= record.row == 0 || record.col == 0;
  triplets.max_row = std::max(triplets.max_row, record.row);
  triplets.max_col = std::max(triplets.max_col, record.col);
  triplets.records.push_back(record);
}

/// Stops at the first key unless `only_indices`.
Triplets parse_triplets(Table table, const TripletColumns& columns, const EntriesOptions& options,
                        bool only_indices) {
  const bool plain = are_plain(table, columns);
  const std::int32_t first = options.base == IndexBase::kOne ? 1 : 0;
  Triplets triplets;
  const std::size_t lines = table.line().lines_left();
  require_number_of_entries(table.line().name(), lines);
  triplets.records.reserve(lines);
  ReadingProgress progress(options, table.line().bytes_left());
  while (table.next_line()) {
    progress.count(table.line());
    Record record;
    const LineReader& line = table.line();
    if (plain &&
        parse_plain_triplet(line.text(), table.separator(), record.row, record.col, record.value) &&
        record.row >= first && record.col >= first) {
      record.line = static_cast<std::uint64_t>(line.number());
      add(triplets, record);
      continue;
    }
    table.split();
    triplets.has_keys = !only_indices && has_key(table, columns);
    if (triplets.has_keys) return triplets;
    add(triplets, parse_record(table, columns, first));
    if (columns.weight) add_weight(table, columns, triplets.weights);
  }
  if (triplets.records.empty()) table.fail_without_data();
  return triplets;
}

/// Most lines of the matrix would be empty, and there are many of them.
bool is_sparse(const Triplets& triplets) {
  constexpr std::size_t kAlwaysFew = 100'000, kLinesPerEntry = 10;
  const auto largest = static_cast<std::size_t>(std::max(triplets.max_row, triplets.max_col));
  return largest > kAlwaysFew && largest > kLinesPerEntry * triplets.records.size();
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

EntriesFile from_indices(const std::string& name, Triplets triplets,
                         const EntriesOptions& options) {
  const MatrixFrame frame = frame_of(name, triplets, options);
  move_to_base_zero(frame, triplets.records);
  return assemble(frame, std::move(triplets.records), triplets.weights);
}

bool are_indices(const EntriesOptions& options) {
  return options.base != IndexBase::kAuto || options.rows > 0 || options.cols > 0;
}

bool are_keys(const EntriesOptions& options) {
  return options.keyed || options.known_rows != nullptr || options.known_cols != nullptr;
}

/// Keys that are no UTF-8 are Latin-1, as every other text of such a file.
EntriesFile read_keys_of(const Table& table, std::string_view text, const TripletColumns& columns,
                         const EntriesOptions& options) {
  if (is_utf8(text)) return read_keyed_triplets(table, columns, options);
  const std::string converted = as_utf8(std::string(text));
  const Table again(table.line().name(), converted, {"row", "column", "value"});
  return read_keyed_triplets(again, columns, options);
}

/// What the text says, and all that is needed of it: indices are put together without the text.
struct Reading {
  EntriesFile file;  ///< of keys
  std::optional<Triplets> indices;
  std::string ignored, columns_text;
  bool has_header = false, guessed = false, usual = false;
};

Reading read_chosen(const Table& table, std::string_view text, const EntriesOptions& options) {
  const TripletColumns columns = choose_columns(table, options);
  Reading reading;
  if (!are_keys(options))
    reading.indices = parse_triplets(table, columns, options, are_indices(options));
  if (!reading.indices || reading.indices->has_keys) {
    reading.indices.reset();
    reading.file = read_keys_of(table, text, columns, options);
  }
  reading.ignored = table.ignored_columns(columns.used());
  reading.columns_text = columns.text(table);
  reading.has_header = !table.header().empty();
  reading.guessed = columns.guessed;
  reading.usual =
      columns.row == 0 && columns.col == 1 && columns.value == 2 && !columns.weight.has_value();
  reading.file.form.separator = table.separator();
  if (reading.has_header) reading.file.form.corner = table.header()[columns.row];
  return reading;
}

EntriesFile put_together(const std::string& name, Triplets triplets,
                         const EntriesOptions& options) {
  if (are_indices(options) || !is_sparse(triplets))
    return from_indices(name, std::move(triplets), options);
  return from_sparse_indices(name, std::move(triplets.records), triplets.weights, options);
}

}  // namespace

EntriesFile read_triplets(const std::string& name, std::string text,
                          const EntriesOptions& options) {
  Reading reading = read_chosen(Table(name, text, {"row", "column", "value"}), text, options);
  std::string().swap(text);  // as large as the entries; an assignment would keep the memory
  EntriesFile& file = reading.file;
  if (reading.indices) {
    const TableForm form = file.form;
    file = put_together(name, std::move(*reading.indices), options);
    file.form.separator = form.separator;
    file.form.corner = form.corner;
  }
  if (!reading.ignored.empty())
    file.warnings.insert(file.warnings.begin(), message(name, ": ", reading.ignored));
  // Nobody has to be told that the first three columns are what they always are.
  const bool keyed = !file.row_keys.empty() && reading.has_header;
  if (reading.guessed ? !reading.usual || keyed : reading.usual && keyed)
    file.notices.push_back(message(name, ": ", reading.columns_text));
  return std::move(file);
}

}  // namespace detail

std::vector<std::pair<Index, Index>> read_pairs(const std::filesystem::path& path, int base,
                                                Index rows, Index cols,
                                                const PairColumns& columns) {
  const std::string text = read_bytes(path);
  detail::Table table(path.string(), text, {"row", "column"});
  const auto [row_at, col_at] = detail::choose_pair_columns(table, columns);
  std::vector<std::pair<Index, Index>> pairs;
  while (table.next()) {
    const Index row = detail::parse_index_from(table, row_at, base, "row index") - base;
    const Index col = detail::parse_index_from(table, col_at, base, "column index") - base;
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

// SPDX-License-Identifier: MIT
#include "keyed_triplets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/parse.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace detail {
namespace {

/// The keys of one side of the matrix while they are read.
class Side {
 public:
  Side(const char* what, const Keys* known) : what_(what), known_(known) {}

  /// The number of the key in the current line; -1 where it is not among the known ones.
  Index number(const LineReader& line, std::string_view field) {
    if (field == last_ && !field.empty()) return last_number_;  // lines come in runs of one row
    last_ = field;
    last_number_ = look_up(line, field);
    return last_number_;
  }

  /// Keys that are whole numbers come in their order, others as they occur.
  std::vector<std::int32_t> sort_numbers() {
    std::vector<std::int32_t> places;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(keys_.size()));
    for (Index k = 0; k < keys_.size(); ++k)
      if (!parse_all(keys_[k], numbers[static_cast<std::size_t>(k)])) return places;
    std::vector<std::int32_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return numbers[static_cast<std::size_t>(a)] < numbers[static_cast<std::size_t>(b)];
    });
    places.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
      places[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
    keys_.reorder(places);
    return places;
  }

  /// Numbers in some lines and words in others; empty where all are of one kind.
  std::string mixed_text() const {
    if (first_word_.empty() || first_number_.empty()) return "";
    return message(what_, " keys are numbers in some lines (", first_number_,
                   ") and words in others (", first_word_, ")");
  }

  const Keys& keys() const { return known_ != nullptr ? *known_ : keys_; }
  bool is_known() const { return known_ != nullptr; }
  const char* what() const { return what_; }

 private:
  Index look_up(const LineReader& line, std::string_view field) {
    if (field.empty()) line.fail("empty field found, a ", what_, " key expected");
    const bool quoted = field.data() > line.text().data() && field.data()[-1] == '"';
    const bool escaped = quoted && field.find("\"\"") != field.npos;
    const std::string whole = escaped ? unescaped(line, field) : "";
    if (escaped) field = whole;
    if (known_ != nullptr) return known_->find(field);
    const Index before = keys_.size();
    const Index found = keys_.add(field);
    if (found == before) note_kind(line, field);
    return found;
  }

  void note_kind(const LineReader& line, std::string_view field) {
    std::string& first = is_number(field) ? first_number_ : first_word_;
    if (first.empty()) first = message(in_quotes(field), " in line ", line.number());
  }

  const char* what_;
  const Keys* known_;
  Keys keys_;
  std::string_view last_;  // of the file
  Index last_number_ = -1;
  std::string first_word_, first_number_;
};

void move_indices(std::vector<Record>& records, std::int32_t Record::*side,
                  const std::vector<std::int32_t>& places) {
  if (places.empty()) return;
  for (Record& record : records) record.*side = places[static_cast<std::size_t>(record.*side)];
}

EntriesFile assemble_keyed(MatrixFrame frame, const Keys& rows, const Keys& cols,
                           std::vector<Record> records, const std::vector<double>& weights) {
  frame.rows = rows.size();
  frame.cols = cols.size();
  frame.row_keys = &rows;
  frame.col_keys = &cols;
  EntriesFile file = assemble(frame, std::move(records), weights);
  file.row_keys = rows;
  file.col_keys = cols;
  return file;
}

/// The indices that occur, in order.
std::vector<std::int32_t> occurring(const std::vector<Record>& records, bool of_rows,
                                    bool of_cols) {
  std::vector<std::int32_t> found;
  found.reserve(records.size() * (of_rows && of_cols ? 2 : 1));
  for (const Record& record : records) {
    if (of_rows) found.push_back(record.row);
    if (of_cols) found.push_back(record.col);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Keys keys_of(const std::vector<std::int32_t>& indices) {
  Keys keys;
  for (const std::int32_t index : indices) keys.add(fmt::format_int(index).str());
  return keys;
}

std::int32_t place_of(const std::vector<std::int32_t>& indices, std::int32_t index) {
  return static_cast<std::int32_t>(std::lower_bound(indices.begin(), indices.end(), index) -
                                   indices.begin());
}

// Who has named the column means its keys as they are; else a column may be the wrong one.
void warn_of_mixed_keys(const Side& side, const std::string& chosen, const EntriesOptions& options,
                        std::vector<std::string>& warnings, const std::string& name) {
  const std::string mixed = side.mixed_text();
  if (mixed.empty()) return;
  require<IoError>(!chosen.empty() || options.keyed || side.is_known(), name, ": ", mixed,
                   ", one kind expected; where the option ", side.what(),
                   " names the column, all are taken as words");
  warnings.push_back(message(name, ": ", mixed, ": all are taken as words"));
}

}  // namespace

void add_weight(const Table& table, const TripletColumns& columns, std::vector<double>& weights) {
  weights.resize(static_cast<std::size_t>(table.line().number()), 1.0);
  weights.push_back(parse_weight(table, columns));
}

EntriesFile read_keyed_triplets(Table table, const TripletColumns& columns,
                                const EntriesOptions& options) {
  const std::string name = table.line().name();
  Side rows("row", options.known_rows), cols("column", options.known_cols);
  Side& second = options.symmetric ? rows : cols;
  std::vector<Record> records;
  std::vector<double> weights;
  const std::size_t most = table.line().lines_left();
  require_number_of_entries(name, most);
  records.reserve(most);
  ReadingProgress progress(options, table.line().bytes_left());
  Index left_out = 0, lines = 0;
  for (; table.next(); ++lines) {
    progress.count(table.line());
    Record record;
    record.value = parse_value(table.line(), table.field(columns.value), "value");
    record.line = static_cast<std::uint64_t>(table.line().number());
    if (columns.weight) add_weight(table, columns, weights);
    const Index row = rows.number(table.line(), table.field(columns.row));
    const Index col = second.number(table.line(), table.field(columns.col));
    if (row < 0 || col < 0) {
      ++left_out;
      continue;
    }
    record.row = static_cast<std::int32_t>(row);
    record.col = static_cast<std::int32_t>(col);
    records.push_back(record);
  }
  if (lines == 0) table.fail_without_data();
  const auto row_places = rows.is_known() ? std::vector<std::int32_t>() : rows.sort_numbers();
  const auto col_places = second.is_known()   ? std::vector<std::int32_t>()
                          : options.symmetric ? row_places
                                              : cols.sort_numbers();
  move_indices(records, &Record::row, row_places);
  move_indices(records, &Record::col, col_places);
  EntriesFile file = assemble_keyed({name, 0, 0, 0, options.symmetric}, rows.keys(), second.keys(),
                                    std::move(records), weights);
  file.left_out = left_out;
  warn_of_mixed_keys(rows, options.row, options, file.warnings, name);
  warn_of_mixed_keys(cols, options.column, options, file.warnings, name);
  return file;
}

EntriesFile from_sparse_indices(const std::string& name, std::vector<Record> records,
                                const std::vector<double>& weights, const EntriesOptions& options) {
  const bool both = options.symmetric;
  const std::vector<std::int32_t> rows = occurring(records, true, both);
  const std::vector<std::int32_t> cols = occurring(records, both, true);
  for (Record& record : records) {
    record.row = place_of(rows, record.row);
    record.col = place_of(cols, record.col);
  }
  EntriesFile file = assemble_keyed({name, 0, 0, 0, options.symmetric}, keys_of(rows),
                                    keys_of(cols), std::move(records), weights);
  file.notices.push_back(message(name, ": row numbers reach ", rows.back(), " and column numbers ",
                                 cols.back(), ", but only ", rows.size(), " and ", cols.size(),
                                 " occur: they are taken as names"));
  return file;
}

}  // namespace detail

PairsFile read_pairs(const std::filesystem::path& path, const Keys& rows, const Keys& cols,
                     const PairColumns& columns) {
  const std::string text = detail::as_utf8(read_bytes(path));
  detail::Table table(path.string(), text, {"row", "column"});
  const auto [row_at, col_at] = detail::choose_pair_columns(table, columns);
  detail::Side row_side("row", &rows), col_side("column", &cols);
  PairsFile file;
  std::size_t lines = 0, unknown = 0;
  std::string first;
  // A first line of words may be a header or a pair.
  bool known_first_line = false;
  if (const auto& header = table.header(); !header.empty() && !header[row_at].empty()) {
    const Index row = row_side.number(table.line(), header[row_at]);
    const Index col = header[col_at].empty() ? -1 : col_side.number(table.line(), header[col_at]);
    known_first_line = row >= 0 && col >= 0;
    if (known_first_line) file.pairs.emplace_back(row, col);
  }
  for (; table.next(); ++lines) {
    const Index row = row_side.number(table.line(), table.field(row_at));
    const Index col = col_side.number(table.line(), table.field(col_at));
    if (row >= 0 && col >= 0) {
      file.pairs.emplace_back(row, col);
      continue;
    }
    if (unknown++ == 0)
      first = message(row < 0 ? "row " : "column ",
                      detail::in_quotes(table.field(row < 0 ? row_at : col_at)), " in line ",
                      table.line().number());
  }
  if (lines + file.pairs.size() == 0) table.fail_without_data();
  if (unknown > 0)
    file.warnings.push_back(message(path.string(), ": ", unknown, " of ", lines + known_first_line,
                                    " pairs have keys without data and are left out (", first,
                                    unknown > 1 ? ", ...)" : ")"));
  return file;
}

Keys number_keys(Index count, int base) {
  Keys keys;
  for (Index k = 0; k < count; ++k) keys.add(fmt::format_int(k + base).str());
  return keys;
}

std::vector<Index> read_lines_of(const std::filesystem::path& path, const Keys& keys) {
  const std::string text = detail::as_utf8(read_bytes(path));
  detail::LineReader lines(path.string(), text);
  std::vector<std::string_view> fields;
  std::vector<Index> found;
  for (bool first = true; lines.next_content(); first = false) {
    // One key may fill the line: "Toy Story (1995)".
    const Index whole = keys.find(lines.text());
    detail::split_fields(lines, detail::table_separator(lines.text()), fields);
    const std::string key = detail::unescaped(lines, fields[0]);
    const Index index = whole >= 0 ? whole : keys.find(key);
    if (index < 0 && first && !detail::is_number(key)) continue;  // a header
    if (index < 0) lines.fail("key ", detail::in_quotes(key), " found, one of the data expected");
    found.push_back(index);
  }
  require<IoError>(!found.empty(), path.string(),
                   ": no key of the data found, at least one expected");
  return found;
}

}  // namespace udv::io

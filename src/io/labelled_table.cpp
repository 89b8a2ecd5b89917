// SPDX-License-Identifier: MIT
#include <algorithm>

#include "entries_builder.hpp"
#include "names.hpp"
#include "triplet_columns.hpp"

namespace udv::io::detail {
namespace {

using Fields = std::vector<std::string_view>;

bool is_word(std::string_view field) {
  return !is_missing(field) && !is_number(field);
}

/// The lines of a table one after the other; blank lines do not count.
class TableLines {
 public:
  TableLines(const std::string& name, std::string_view text) : lines_(name, text) {
    require<IoError>(text.find('\0') == text.npos, name,
                     ": binary data found (a zero byte), lines of text expected");
    require<IoError>(lines_.next_content(), name, ": ",
                     text.empty() ? "empty file" : "no line with data",
                     " found, a table with one line for each row expected");
    separator_ = find_separator(lines_);
    split_fields(lines_, separator_, fields_);
  }

  bool next() {
    do {
      if (!lines_.next()) return false;
    } while (is_blank());
    const std::size_t width = fields_.size();
    split_fields(lines_, separator_, fields_);
    if (fields_.size() != width)
      lines_.fail(count_text(fields_.size(), "field"), " found, ", width, " expected");
    return true;
  }

  const LineReader& line() const { return lines_; }
  const Fields& fields() const { return fields_; }
  char separator() const { return separator_; }

 private:
  // A row of nothing but tabs is a row where tabs separate.
  bool is_blank() const {
    const std::string_view text = lines_.text();
    const std::size_t at = text.find_first_not_of(separator_ == '\t' ? " " : " \t");
    return at == text.npos || text[at] == '#' || text[at] == '%';
  }

  LineReader lines_;
  Fields fields_;
  char separator_ = ',';
};

/// Names of one side; the lines of the file are kept for messages about two that are equal.
class Labels {
 public:
  explicit Labels(const char* what) : what_(what) {}

  void add(const LineReader& line, std::string_view field) {
    const std::string key = unescaped(line, field);
    if (key.empty()) line.fail("empty field found, the name of a ", what_, " expected");
    const Index at = keys.add(key);
    if (at < static_cast<Index>(lines_.size()))
      line.fail("a second ", what_, " ", in_quotes(key), " found (the first in line ",
                lines_[static_cast<std::size_t>(at)], "), each one once expected");
    lines_.push_back(line.number());
  }

  Keys keys;

 private:
  const char* what_;
  std::vector<std::int64_t> lines_;
};

/// What the first two lines say of a table.
struct Shape {
  bool has_header = false;
  std::optional<std::size_t> label;  // column of the labels
  std::size_t width = 0;

  Index cols() const { return static_cast<Index>(width) - (label ? 1 : 0); }
};

// The corner of a table with labels is blank or tells what they are.
bool is_corner(std::string_view field) {
  const std::string word = lower_case(std::string(field));
  for (const char* const known : {"", "id", "name", "key", "index", "row", "label", "user", "date"})
    if (word == known) return true;
  return false;
}

Shape shape_of(const TableLines& table, const EntriesOptions& options) {
  Shape shape;
  const Fields& first = table.fields();
  shape.width = first.size();
  TableLines ahead = table;
  const bool more = ahead.next();
  const bool words_inside = std::any_of(first.begin() + 1, first.end(), is_word);
  const bool corner = more && is_corner(first[0]);
  shape.has_header =
      words_inside || (corner && std::none_of(first.begin() + 1, first.end(), is_missing) &&
                       (is_word(ahead.fields()[0]) || is_word(first[0])));
  if (!options.row.empty()) {
    shape.label =
        find_column(table.line(), shape.has_header ? first : Fields(), shape.width, options.row);
    return shape;
  }
  const std::string_view below = shape.has_header && more ? ahead.fields()[0] : first[0];
  if (is_word(below) || (shape.has_header && is_corner(first[0]))) shape.label = 0;
  return shape;
}

/// Reads the values of one table.
class TableReader {
 public:
  TableReader(const std::string& name, std::string_view text, const EntriesOptions& options)
      : name_(name), options_(options), table_(name, text), shape_(shape_of(table_, options)) {
    if (shape_.has_header) read_header();
    if (options.known_cols != nullptr && !shape_.has_header)
      require<IoError>(shape_.cols() == options.known_cols->size(), name, ": ", shape_.cols(),
                       " columns without names found, ", options.known_cols->size(), " expected");
    for (bool more = !shape_.has_header || table_.next(); more; more = table_.next()) read_row();
    require<IoError>(num_rows_ > 0, name, ": only a header found, lines of data expected");
    require<IoError>(!records_.empty() || left_out_ > 0, name,
                     ": only unknown values found, at least one known entry expected");
  }

  EntriesFile result() {
    const Keys& rows = options_.known_rows != nullptr ? *options_.known_rows : rows_.keys;
    const Keys& cols = options_.known_cols != nullptr ? *options_.known_cols : cols_.keys;
    const Index num_rows = options_.known_rows != nullptr ? rows.size() : num_rows_;
    const Index num_cols = options_.known_cols != nullptr ? cols.size() : shape_.cols();
    require_sizes(name_, num_rows, num_cols, options_);
    require<IoError>(num_rows_ <= num_rows || shape_.label, name_, ": ", num_rows_,
                     " rows without names found, at most ", num_rows, " expected");
    const bool all_keys = !rows.empty() && !cols.empty();
    const int base = options_.base == IndexBase::kZero || all_keys ? 0 : 1;
    const MatrixFrame frame{name_, base, num_rows, num_cols, options_.symmetric, &rows, &cols};
    EntriesFile file = assemble(frame, std::move(records_));
    file.row_keys = rows;
    file.col_keys = cols;
    file.left_out = left_out_;
    file.form = {true, shape_.has_header, shape_.label.has_value(), corner_, table_.separator()};
    return file;
  }

 private:
  void read_header() {
    const Fields& fields = table_.fields();
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (shape_.label == k)
        corner_ = unescaped(table_.line(), fields[k]);
      else
        cols_.add(table_.line(), fields[k]);
    }
    place_.resize(static_cast<std::size_t>(shape_.cols()));
    for (Index j = 0; j < shape_.cols(); ++j)
      place_[static_cast<std::size_t>(j)] =
          options_.known_cols == nullptr ? j : options_.known_cols->find(cols_.keys[j]);
  }

  void read_row() {
    const Fields& fields = table_.fields();
    row_place_ = num_rows_;
    if (shape_.label) {
      rows_.add(table_.line(), fields[*shape_.label]);
      if (options_.known_rows != nullptr)
        row_place_ = options_.known_rows->find(rows_.keys[num_rows_]);
    }
    std::size_t j = 0;
    for (std::size_t k = 0; k < fields.size(); ++k)
      if (shape_.label != k) read_value(fields[k], j++);
    ++num_rows_;
  }

  void read_value(std::string_view field, std::size_t j) {
    if (is_missing(field)) return;
    Record record;
    record.value = parse_value(table_.line(), field, "value");
    const Index place = place_.empty() ? static_cast<Index>(j) : place_[j];
    if (place < 0 || row_place_ < 0) {
      ++left_out_;
      return;
    }
    record.row = static_cast<std::int32_t>(row_place_);
    record.col = static_cast<std::int32_t>(place);
    record.line = static_cast<std::uint64_t>(table_.line().number());
    records_.push_back(record);
  }

  std::string name_;
  const EntriesOptions& options_;
  TableLines table_;
  Shape shape_;
  std::string corner_;
  Labels rows_{"row"}, cols_{"column"};
  std::vector<Index> place_;  // of column j of the file in the matrix; -1: not among the known ones
  std::vector<Record> records_;
  Index num_rows_ = 0, left_out_ = 0;
  Index row_place_ = 0;  // of the current line; -1: not among the known ones
};

}  // namespace

EntriesFile read_table(const std::string& name, std::string_view text,
                       const EntriesOptions& options) {
  const bool triplets = !options.column.empty() || !options.value.empty() ||
                        !options.weight.empty() || !options.std.empty();
  require<IoError>(!triplets, name,
                   ": columns for column, value, weight or std go with triplets, not with a table");
  return TableReader(name, text, options).result();
}

}  // namespace udv::io::detail

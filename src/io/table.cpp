// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <algorithm>

#include "core/require.hpp"

namespace udv::io::detail {
namespace {

bool is_numeric(std::string_view field) {
  return is_number(field) || has_decimal_comma(field);
}

}  // namespace

Table::Table(std::string name, std::string_view text, std::vector<std::string_view> columns)
    : lines_(std::move(name), text), columns_(std::move(columns)) {
  require<IoError>(text.find('\0') == text.npos, lines_.name(),
                   ": binary data found (a zero byte), lines of text expected");
  require<IoError>(lines_.next_content(), lines_.name(), ": ",
                   text.empty() ? "empty file" : "no line with data", " found, lines of ",
                   leading_columns(), " expected");
  separator_ = find_separator(lines_);
  split_fields(lines_, separator_, fields_);
  width_ = fields_.size();
  if (width_ < columns_.size()) {
    lines_.fail(count_text(width_, "field"), " found, at least ", columns_.size(), " expected (",
                leading_columns(), " separated by comma, semicolon, tab or blanks)");
  }
  first_line_is_data_ = !is_header();
  if (!first_line_is_data_) header_ = fields_;
}

// Words in the leading columns are a header, unless a number follows them and the next line is
// of the same kind: keys and a value.
bool Table::is_header() const {
  const auto leading = static_cast<std::ptrdiff_t>(columns_.size());
  if (std::any_of(fields_.begin(), fields_.begin() + leading, is_numeric)) return false;
  if (std::none_of(fields_.begin(), fields_.end(), is_numeric)) return true;
  LineReader ahead = lines_;
  std::vector<std::string_view> next;
  if (!ahead.next_content()) return true;
  split_fields(ahead, separator_, next);
  return next.size() != width_ || std::any_of(next.begin(), next.begin() + leading, is_numeric);
}

bool Table::next() {
  if (!next_line()) return false;
  split();
  return true;
}

bool Table::next_line() {
  if (!first_line_is_data_) return lines_.next_content();
  first_line_is_data_ = false;
  return true;
}

void Table::split() {
  split_fields(lines_, separator_, fields_);
  if (fields_.size() != width_) {
    lines_.fail(count_text(fields_.size(), "field"), " found, ", width_, " expected");
  }
}

std::string Table::leading_columns() const {
  std::string text;
  for (const std::string_view column : columns_) text += message(text.empty() ? "" : ", ", column);
  return text;
}

std::string Table::ignored_columns(const std::vector<std::size_t>& used) const {
  constexpr std::size_t kNamed = 5;
  std::string text;
  std::size_t ignored = 0;
  for (std::size_t k = 0; k < width_; ++k) {
    if (std::find(used.begin(), used.end(), k) != used.end() || ++ignored > kNamed) continue;
    const bool named = !header_.empty() && !header_[k].empty();
    text += text.empty() ? "" : ", ";
    text += named ? in_quotes(header_[k]) : message("number ", k + 1);
  }
  if (ignored == 0) return "";
  return count_text(ignored, "column") + " ignored: " + text +
         (ignored > kNamed ? message(" and ", ignored - kNamed, " more") : "");
}

void Table::fail_without_data() const {
  throw IoError(
      message(lines_.name(), ": only a header found, lines of ", leading_columns(), " expected"));
}

}  // namespace udv::io::detail

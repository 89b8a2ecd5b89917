// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <algorithm>

#include "core/require.hpp"

namespace udv::io::detail {

Table::Table(std::string name, std::string_view text, std::vector<std::string_view> columns)
    : lines_(std::move(name), text), columns_(std::move(columns)) {
  require<IoError>(text.find('\0') == text.npos, lines_.name(),
                   ": binary data found (a zero byte), lines of text expected");
  require<IoError>(lines_.next_content(), lines_.name(), ": ",
                   text.empty() ? "empty file" : "no line with data", " found, lines of ",
                   leading_columns(), " expected");
  separator_ = find_separator();
  split_fields(lines_, separator_, fields_);
  width_ = fields_.size();
  if (width_ < columns_.size()) {
    lines_.fail(count_text(width_, "field"), " found, at least ", columns_.size(), " expected (",
                leading_columns(), " separated by comma, semicolon, tab or blanks)");
  }
  first_line_is_data_ = !is_header();
  if (!first_line_is_data_) header_ = fields_;
}

// A header's words may contain blanks: "user id,item id,rating". So a line that does not start
// with a number leaves the choice to the line after it.
char Table::find_separator() const {
  const FirstField first = first_field(lines_.text());
  LineReader ahead = lines_;
  if (is_number(first.text) || !ahead.next_content()) return first.separator;
  return first_field(ahead.text()).separator;
}

bool Table::is_header() const {
  return std::none_of(fields_.begin(),
                      fields_.begin() + static_cast<std::ptrdiff_t>(columns_.size()), is_number);
}

bool Table::next() {
  if (first_line_is_data_) {
    first_line_is_data_ = false;
    return true;
  }
  if (!lines_.next_content()) return false;
  split_fields(lines_, separator_, fields_);
  if (fields_.size() != width_) {
    lines_.fail(count_text(fields_.size(), "field"), " found, ", width_, " expected");
  }
  return true;
}

std::string Table::leading_columns() const {
  std::string text;
  for (const std::string_view column : columns_) text += message(text.empty() ? "" : ", ", column);
  return text;
}

std::string Table::ignored_columns() const {
  constexpr std::size_t kNamed = 5;
  const std::size_t ignored = width_ - columns_.size();
  if (ignored == 0) return "";
  std::string text = count_text(ignored, "column") + " ignored: ";
  for (std::size_t k = 0; k < std::min(ignored, kNamed); ++k) {
    const std::size_t column = columns_.size() + k;
    const bool named = !header_.empty() && !header_[column].empty();
    text += k == 0 ? "" : ", ";
    text += named ? in_quotes(header_[column]) : message("number ", column + 1);
  }
  return text + (ignored > kNamed ? message(" and ", ignored - kNamed, " more") : "");
}

void Table::fail_without_data() const {
  throw IoError(
      message(lines_.name(), ": only a header found, lines of ", leading_columns(), " expected"));
}

}  // namespace udv::io::detail

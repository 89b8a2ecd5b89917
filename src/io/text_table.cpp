// SPDX-License-Identifier: MIT
#include "udv/io/text_table.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == line.npos;
}

// A quoted field may hold line breaks. One that never ends is shown at the line where it opens.
void join_lines(detail::LineReader& lines, char separator) {
  const detail::LineReader first = lines;
  while (detail::has_open_quote(lines.text(), separator))
    if (!lines.extend()) {
      lines = first;
      return;
    }
}

}  // namespace

TextTable::TextTable(const std::filesystem::path& path)
    : name_(path.string()),
      text_(std::make_shared<const std::string>(detail::as_utf8(read_bytes(path)))) {
  require<IoError>(text_->find('\0') == text_->npos, name_,
                   ": binary data found (a zero byte), lines of text expected");
  detail::LineReader lines(name_, *text_);
  std::vector<std::string_view> fields;
  while (lines.next() && is_blank(lines.text())) {
  }
  require<IoError>(!is_blank(lines.text()), name_, ": empty file found, a header line expected");
  separator_ = detail::table_separator(lines.text());
  detail::split_fields(lines, separator_, fields);
  columns_.assign(fields.begin(), fields.end());
  for (size_t c = 0; c < columns_.size(); ++c)
    if (find(columns_[c]) != static_cast<Index>(c))
      lines.fail("two columns named ", detail::in_quotes(columns_[c]));
  while (lines.next()) {
    if (is_blank(lines.text())) continue;
    const std::int64_t number = lines.number();
    if (detail::has_open_quote(lines.text(), separator_)) join_lines(lines, separator_);
    detail::split_fields(lines, separator_, fields);
    if (fields.size() != columns_.size())
      lines.fail(detail::count_text(fields.size(), "field"), " found, ", columns_.size(),
                 " expected, as in the header");
    fields_.insert(fields_.end(), fields.begin(), fields.end());
    lines_.push_back(number);
  }
  require<IoError>(!lines_.empty(), name_, ": only a header found, lines of data expected");
}

Index TextTable::find(std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  return at == columns_.end() ? -1 : at - columns_.begin();
}

std::string TextTable::where(Index row, Index column) const {
  return message(name_, ":", lines_[static_cast<size_t>(row)], ": column ",
                 detail::in_quotes(columns_[static_cast<size_t>(column)]));
}

bool is_number(std::string_view field) {
  return detail::is_number(field);
}

bool parse_number(std::string_view field, double& value) {
  return detail::parse_finite(field, value);
}

std::string quoted(std::string_view field) {
  return detail::in_quotes(field);
}

}  // namespace udv::io

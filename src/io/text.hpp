// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/require.hpp"

namespace udv::io::detail {

/// 'text' for a message: on one line, control characters and broken UTF-8 as \xNN, shortened.
std::string in_quotes(std::string_view text);

/// Length of the UTF-8 character at the front (RFC 3629), 0 where the bytes are none. The text is
/// not empty.
std::size_t utf8_length(std::string_view text);

/// Every byte belongs to a character of UTF-8.
bool is_utf8(std::string_view text);

/// "1 field", "2 fields".
std::string count_text(std::size_t count, std::string_view noun);

/// The shortest decimals that read back as the same number.
std::string exact_text(double value);

/// Walks the lines of a text, ended by LF or CRLF; a UTF-8 byte-order mark is skipped.
/// Keeps a view of the text, no copy.
class LineReader {
 public:
  LineReader(std::string name, std::string_view text);

  bool next();          ///< moves to the next line; false at the end
  bool extend();        ///< adds the next line to this one, with the break between them
  bool next_content();  ///< skips blank lines and lines that start with # or %

  std::string_view text() const { return line_; }
  std::int64_t number() const { return number_; }  ///< counted from 1
  const std::string& name() const { return name_; }
  /// This one and those that follow: at most what the text can hold, "1 1 1" being the shortest.
  std::size_t lines_left() const;
  std::size_t bytes_left() const { return rest_.size(); }

  /// Throws IoError "name:number: ...".
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... found_and_expected) const {
    throw IoError(message(name_, ":", number_, ": ", found_and_expected...));
  }

 private:
  std::string name_;
  std::string_view rest_;
  std::string_view line_;
  std::int64_t number_ = 0;
};

/// The first field of a line in any dialect, and the separator that follows it: comma, semicolon,
/// tab, or a blank, which stands for any run of blanks and tabs.
struct FirstField {
  std::string_view text;
  char separator;
};
FirstField first_field(std::string_view line);

/// Of a table with this first line: the first comma, semicolon or tab in it; a comma where none is.
char table_separator(std::string_view line);

/// Fields of the current line without their quotes and the blanks around them. An empty field
/// counts, except between blanks. Throws IoError where a quote is not closed.
void split_fields(const LineReader& line, char separator, std::vector<std::string_view>& fields);

/// Does a field of this line open a quote that the line does not close? The field goes on in the
/// next line then.
bool has_open_quote(std::string_view line, char separator);

/// A field of the current line as it was meant: a doubled quote inside of quotes is one.
std::string unescaped(const LineReader& line, std::string_view field);

/// The separator of a table: the one that follows the first field of the first line of data, which
/// may be the second line. Where neither starts with a number, the one that gives both lines the
/// same and the largest number of fields. `lines` stands at the first line.
char find_separator(const LineReader& lines);

/// Bytes that are no UTF-8 are taken for Latin-1 and turned into UTF-8.
std::string as_utf8(std::string text);

/// Nothing, NA, N/A, NaN, null or ?, in any case: the value is not known.
bool is_missing(std::string_view field);

/// True for everything parse_value can at least understand: inf and 1e999 are numbers too.
bool is_number(std::string_view field);

/// "3,5": a number but for its comma.
bool has_decimal_comma(std::string_view field);

/// A finite number; false where the field is none.
bool parse_finite(std::string_view field, double& value);

/// A finite number. Throws IoError that names line, field and `what` was expected.
double parse_value(const LineReader& line, std::string_view field, std::string_view what);

/// "12,7,3.5" and nothing else: two indices and a number. False where the line is of another form,
/// which says nothing about its being right. The fast way for most lines of most files.
bool parse_plain_triplet(std::string_view line, char separator, std::int32_t& row,
                         std::int32_t& col, double& value);

/// A whole number from 0 to 2^31 - 1; 3.0 and 1e3 are whole too.
std::int32_t parse_index(const LineReader& line, std::string_view field, std::string_view what);

}  // namespace udv::io::detail

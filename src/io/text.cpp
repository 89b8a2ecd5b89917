// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "names.hpp"

namespace udv::io::detail {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// Where tabs separate, they are no blanks: two in a row enclose an empty field.
bool is_blank(char c, char separator) {
  return c == ' ' || (c == '\t' && separator != '\t');
}

bool ends_field(char c, char separator) {
  return c == separator || (separator == ' ' && c == '\t');
}

std::size_t skip_blanks(std::string_view text, std::size_t at, char separator) {
  while (at < text.size() && is_blank(text[at], separator)) ++at;
  return at;
}

/// The closing quote of a field that opens at `at`; a doubled quote stands for one inside.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  std::size_t end = text.find('"', at + 1);
  while (end != text.npos && text.substr(end + 1).starts_with('"')) end = text.find('"', end + 2);
  return end;
}

/// Separators outside of quotes, and one more.
std::size_t count_fields(std::string_view line, char separator) {
  std::size_t count = 1;
  bool quoted = false;
  for (const char c : line) {
    quoted ^= c == '"';
    count += c == separator && !quoted;
  }
  return count;
}

struct Field {
  std::string_view text;
  std::size_t end;  // the separator after it, or the end of the line
};

Field plain_field(std::string_view line, std::size_t at, char separator) {
  std::size_t end = at;
  while (end < line.size() && !ends_field(line[end], separator)) ++end;
  std::size_t last = end;
  while (last > at && is_blank(line[last - 1], separator)) --last;
  return {line.substr(at, last - at), end};
}

Field quoted_field(const LineReader& line, std::size_t at, char separator) {
  const std::string_view text = line.text();
  const std::size_t close = closing_quote(text, at);
  if (close == text.npos) line.fail(in_quotes(text.substr(at)), " found, a closing quote expected");
  std::size_t end = close + 1;
  if (separator != ' ') end = skip_blanks(text, end, separator);
  if (end < text.size() && !ends_field(text[end], separator)) {
    line.fail(in_quotes(text.substr(at)), " found, a separator after the closing quote expected");
  }
  return {text.substr(at + 1, close - at - 1), end};
}

struct Parsed {
  double value;
  bool whole_field;
  bool out_of_range;
};

Parsed parse_number(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  Parsed parsed{0, false, false};
  const auto [stop, error] = std::from_chars(field.data(), end, parsed.value);
  parsed.whole_field = stop == end && error != std::errc::invalid_argument;
  parsed.out_of_range = error == std::errc::result_out_of_range;
  return parsed;
}

/// Up to nine digits, then the separator; moves behind both.
bool take_index(const char*& at, const char* end, char separator, std::int32_t& index) {
  constexpr std::ptrdiff_t kDigits = 9;
  const char* const start = at;
  std::int32_t value = 0;
  while (at != end && at - start < kDigits && '0' <= *at && *at <= '9')
    value = 10 * value + (*at++ - '0');
  index = value;
  return at != start && at != end && *at++ == separator;
}

/// Short decimals such as -3.25: digits and a power of ten that doubles hold exactly, so that one
/// division rounds correctly.
bool parse_short_decimal(const char* at, const char* end, double& value) {
  constexpr double kPowers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = at != end && *at == '-';
  at += negative;
  if (end - at > 15 || at == end || *at < '0' || *at > '9') return false;
  std::int64_t digits = 0;
  while (at != end && '0' <= *at && *at <= '9') digits = 10 * digits + (*at++ - '0');
  const bool point = at != end && *at == '.';
  at += point;
  const char* const fraction = at;
  while (at != end && '0' <= *at && *at <= '9') digits = 10 * digits + (*at++ - '0');
  const double magnitude = static_cast<double>(digits) / kPowers[at - fraction];
  value = negative ? -magnitude : magnitude;
  return at == end;
}

[[noreturn]] void fail_on_text(const LineReader& line, std::string_view field,
                               std::string_view what) {
  if (field.empty()) line.fail("empty field found, a ", what, " expected");
  if (has_decimal_comma(field))
    line.fail(in_quotes(field), " found, a ", what, " with a decimal point expected");
  line.fail("text where a number belongs: ", in_quotes(field), " found, a ", what, " expected");
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  while (!text.empty() && result.size() < kLongest) {
    const std::size_t length = is_control(text[0]) ? 0 : utf8_length(text);
    if (length == 0) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result + (text.empty() ? "'" : "...'");
}

std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return 0;
    code = code << 6 | (next & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = 0xD800 <= code && code <= 0xDFFF;
  return code < kSmallest[length] || surrogate || code > 0x10FFFF ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    // Most text is ASCII: eight bytes at once.
    std::uint64_t bytes = 0;
    while (text.size() >= sizeof bytes) {
      std::memcpy(&bytes, text.data(), sizeof bytes);
      if (bytes & 0x8080808080808080u) break;
      text.remove_prefix(sizeof bytes);
    }
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string exact_text(double value) {
  return fmt::format("{}", value);
}

LineReader::LineReader(std::string name, std::string_view text)
    : name_(std::move(name)), rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineReader::next() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

bool LineReader::extend() {
  if (rest_.empty()) return false;
  const char* const begin = line_.data();
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = {begin, static_cast<std::size_t>(rest_.data() + end - begin)};
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  return true;
}

std::size_t LineReader::lines_left() const {
  const auto newlines = static_cast<std::size_t>(std::count(rest_.begin(), rest_.end(), '\n'));
  return std::min(newlines + 2, rest_.size() / 6 + 2);
}

bool LineReader::next_content() {
  while (next()) {
    const std::size_t first = skip_blanks(line_, 0, ' ');
    if (first < line_.size() && line_[first] != '#' && line_[first] != '%') return true;
  }
  return false;
}

FirstField first_field(std::string_view line) {
  const std::size_t start = skip_blanks(line, 0, ' ');
  std::string_view field = line.substr(start, line.find_first_of(",;\t ", start) - start);
  std::size_t end = start + field.size();
  if (field.starts_with('"')) {
    const std::size_t close = std::min(closing_quote(line, start), line.size());
    field = line.substr(start + 1, close - start - 1);
    end = std::min(close + 1, line.size());
  }
  const std::size_t next = skip_blanks(line, end, ' ');
  if (next < line.size() && (line[next] == ',' || line[next] == ';')) return {field, line[next]};
  const bool has_tab = line.substr(end, next - end).find('\t') != line.npos;
  return {field, has_tab ? '\t' : ' '};
}

char table_separator(std::string_view line) {
  const std::size_t at = line.find_first_of(",;\t");
  return at == line.npos ? ',' : line[at];
}

bool has_open_quote(std::string_view text, char separator) {
  if (text.find('"') == text.npos) return false;
  for (std::size_t at = 0; at < text.size();) {
    at = skip_blanks(text, at, separator);
    if (at < text.size() && text[at] == '"') {
      at = closing_quote(text, at);
      if (at == text.npos) return true;
    }
    while (at < text.size() && !ends_field(text[at], separator)) ++at;
    ++at;
  }
  return false;
}

void split_fields(const LineReader& line, char separator, std::vector<std::string_view>& fields) {
  const std::string_view text = line.text();
  fields.clear();
  for (std::size_t at = 0;;) {
    at = skip_blanks(text, at, separator);
    if (separator == ' ' && at == text.size()) return;
    const bool opens_quote = at < text.size() && text[at] == '"';
    const Field field =
        opens_quote ? quoted_field(line, at, separator) : plain_field(text, at, separator);
    fields.push_back(field.text);
    if (field.end == text.size()) return;
    at = field.end + 1;
  }
}

std::string unescaped(const LineReader& line, std::string_view field) {
  const bool quoted = field.data() > line.text().data() && field.data()[-1] == '"';
  std::string text(field);
  if (!quoted) return text;
  for (std::size_t at = 0; (at = text.find("\"\"", at)) != text.npos; ++at) text.erase(at, 1);
  return text;
}

char find_separator(const LineReader& lines) {
  const FirstField first = first_field(lines.text());
  LineReader ahead = lines;
  const bool more = ahead.next_content();
  if (is_number(first.text)) return first.separator;
  // A header's words may contain blanks: "user id,item id,rating".
  const FirstField second = first_field(more ? ahead.text() : lines.text());
  if (is_number(second.text)) return second.separator;
  char best = ' ';
  std::size_t most = 1;
  for (const char separator : {'\t', ',', ';'}) {
    const std::size_t count = count_fields(lines.text(), separator);
    if (count <= most || (more && count_fields(ahead.text(), separator) != count)) continue;
    most = count;
    best = separator;
  }
  return most > 1 || !more ? best : second.separator;
}

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) result += static_cast<char>(0xC0 | code >> 6);
    result += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3F));
  }
  return result;
}

bool is_missing(std::string_view field) {
  if (field.size() > 4) return false;
  const std::string word = lower_case(std::string(field));
  return word.empty() || word == "na" || word == "n/a" || word == "nan" || word == "null" ||
         word == "?";
}

bool is_number(std::string_view field) {
  return parse_number(field).whole_field;
}

bool has_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (comma == field.npos) return false;
  std::string point(field);
  point[comma] = '.';
  return parse_number(point).whole_field;
}

bool parse_finite(std::string_view field, double& value) {
  if (parse_short_decimal(field.data(), field.data() + field.size(), value)) return true;
  const Parsed parsed = parse_number(field);
  value = parsed.value;
  return parsed.whole_field && !parsed.out_of_range && std::isfinite(value);
}

double parse_value(const LineReader& line, std::string_view field, std::string_view what) {
  double value = 0;
  if (parse_short_decimal(field.data(), field.data() + field.size(), value)) return value;
  const Parsed parsed = parse_number(field);
  if (!parsed.whole_field) fail_on_text(line, field, what);
  if (parsed.out_of_range) {
    line.fail(what, " ", in_quotes(field), " found, a number within double precision expected");
  }
  if (!std::isfinite(parsed.value)) {
    line.fail(what, " ", in_quotes(field), " found, a finite number expected");
  }
  return parsed.value;
}

bool parse_plain_triplet(std::string_view line, char separator, std::int32_t& row,
                         std::int32_t& col, double& value) {
  const char* at = line.data();
  const char* const end = at + line.size();
  if (!take_index(at, end, separator, row) || !take_index(at, end, separator, col)) return false;
  if (parse_short_decimal(at, end, value)) return true;
  const auto [stop, error] = std::from_chars(at, end, value);
  return error == std::errc() && stop == end && std::isfinite(value);
}

std::int32_t parse_index(const LineReader& line, std::string_view field, std::string_view what) {
  constexpr std::int32_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::int32_t index = -1;
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, index);
  if (error == std::errc() && stop == end && index >= 0) return index;
  const Parsed parsed = parse_number(field);
  if (!parsed.whole_field) fail_on_text(line, field, what);
  if (parsed.value < 0) line.fail(what, " ", in_quotes(field), " found, 0 or more expected");
  if (parsed.out_of_range || !(parsed.value <= kLargest)) {
    line.fail(what, " ", in_quotes(field), " found, at most ", kLargest, " expected");
  }
  if (parsed.value != std::floor(parsed.value)) {
    line.fail(what, " ", in_quotes(field), " found, a whole number expected");
  }
  return static_cast<std::int32_t>(parsed.value);
}

}  // namespace udv::io::detail

// SPDX-License-Identifier: MIT
#include "net/number_style.hpp"

#include <algorithm>
#include <string>

#include "udv/io/text_table.hpp"

namespace udv::net {
namespace {

// Dollar, euro, pound, yen, rupee; blanks that do not break; three-letter names.
constexpr std::string_view kSigns[] = {
    "$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "\xE2\x82\xB9", "\xC2\xA0", "\xE2\x80\xAF",
    " ", "USD",          "EUR",      "GBP",      "CHF",          "JPY"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes signs of money and blanks off both ends, and percent signs off the right one.
std::string_view bare(std::string_view text) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view sign : kSigns) {
      if (text.starts_with(sign)) text.remove_prefix(sign.size()), again = true;
      if (text.ends_with(sign)) text.remove_suffix(sign.size()), again = true;
    }
    if (text.ends_with('%')) text.remove_suffix(1), again = true;
  }
  return text;
}

// Bytes of a mark between groups of digits that the text begins with: apostrophes and blanks.
size_t mark_length(std::string_view text) {
  constexpr std::string_view kMarks[] = {"'", "\xE2\x80\x99", " ", "\xC2\xA0", "\xE2\x80\xAF"};
  for (const std::string_view mark : kMarks)
    if (text.starts_with(mark)) return mark.size();
  return 0;
}

// Such marks between two digits, which set groups apart in every style, become '_'.
std::string with_groups(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = mark_length(text);
    const bool between = length > 0 && !result.empty() && is_digit(result.back()) &&
                         text.size() > length && is_digit(text[length]);
    result += between ? '_' : text.front();
    text.remove_prefix(between ? length : 1);
  }
  return result;
}

// "1,234,567" -> "1234567": one to three digits, the first no 0, then groups of three.
bool join_groups(std::string_view text, char separator, std::string& digits) {
  size_t first = text.find(separator);
  if (first == text.npos) {
    digits += text;
    return std::all_of(text.begin(), text.end(), is_digit);
  }
  if (first < 1 || first > 3 || text.front() == '0') return false;
  size_t at = 0;
  while (true) {
    const size_t end = std::min(text.find(separator, at), text.size());
    const std::string_view group = text.substr(at, end - at);
    if (at > 0 && group.size() != 3) return false;
    if (!std::all_of(group.begin(), group.end(), is_digit)) return false;
    digits += group;
    if (end == text.size()) return true;
    at = end + 1;
  }
}

// The exponent that the text begins with: "e-5".
size_t exponent_length(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  const size_t digits = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 2 : 1;
  size_t end = digits;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > digits ? end : 0;
}

// ASCII letters, and what UTF-8 has beyond ASCII: degrees, micro, ohm.
bool begins_unit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string_view unit_of(std::string_view field) {
  constexpr size_t kLongest = 12;
  size_t at = std::min(field.find_first_of("0123456789"), field.size());
  for (size_t length = 1; at < field.size() && length > 0; at += length) {
    const std::string_view rest = field.substr(at);
    const bool number = is_digit(rest[0]) || rest[0] == '.' || rest[0] == ',';
    length = number ? 1 : std::max(mark_length(rest), exponent_length(rest));
  }
  std::string_view unit = field.substr(at);
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  const bool is_unit = !unit.empty() && unit.size() <= kLongest && begins_unit(unit[0]) &&
                       unit.find_first_of("|,;\n") == unit.npos;
  return is_unit ? unit : std::string_view();
}

std::string_view without_unit(std::string_view field, std::string_view unit) {
  const std::string_view found = unit_of(field);
  if (unit.empty() || found != unit) return field;
  return field.substr(0, static_cast<size_t>(found.data() - field.data()));
}

const std::vector<NumberStyleName>& number_styles() {
  static const std::vector<NumberStyleName> styles{{NumberStyle::kPlain, "plain"},
                                                   {NumberStyle::kThousands, "thousands"},
                                                   {NumberStyle::kComma, "comma"}};
  return styles;
}

bool parse_styled(std::string_view field, NumberStyle style, double& value) {
  const bool has_point = field.find('.') != field.npos;
  if (io::parse_number(field, value) && (style != NumberStyle::kComma || !has_point)) return true;
  std::string_view text = bare(field);
  bool negative = false;
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    negative = true;
    text = bare(text.substr(1, text.size() - 2));
  } else if (text.size() > 1 && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text = bare(text.substr(1));
  }
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.' && text.front() != ','))
    return false;
  const std::string grouped = with_groups(text);
  text = grouped;
  const bool marked = text.find('_') != text.npos;
  std::string plain;
  if (style == NumberStyle::kPlain && !marked) {
    plain = text;
  } else {
    const char group = marked ? '_' : style == NumberStyle::kComma ? '.' : ',';
    const char point = style == NumberStyle::kComma ? ',' : '.';
    const size_t end = std::min(text.rfind(point), text.size());
    if (!join_groups(text.substr(0, end), group, plain)) return false;
    if (end < text.size()) plain.append(1, '.').append(text.substr(end + 1));
  }
  if (!io::parse_number(plain, value)) return false;
  if (negative) value = -value;
  return true;
}

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#include "net/calendar.hpp"

#include <chrono>

#include "core/parse.hpp"
#include "net/named_entries.hpp"

namespace udv::net {
namespace {

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Takes from `least` to `most` digits.
bool take_number(std::string_view& text, size_t least, size_t most, int& value) {
  size_t digits = 0;
  while (digits < text.size() && digits < most && is_digit(text[digits])) ++digits;
  if (digits < least || !parse_all(text.substr(0, digits), value)) return false;
  text.remove_prefix(digits);
  return true;
}

// Takes the name of a month in English, short or long.
bool take_month(std::string_view& text, int& month) {
  size_t letters = 0;
  while (letters < text.size() && lower(text[letters]) >= 'a' && lower(text[letters]) <= 'z')
    ++letters;
  if (letters < 3) return false;
  for (int m = 0; m < 12; ++m) {
    const std::string_view name = kMonths[m];
    if (lower(text[0]) != name[0] || lower(text[1]) != name[1] || lower(text[2]) != name[2])
      continue;
    month = m + 1;
    text.remove_prefix(letters);
    return true;
  }
  return false;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text[0]) == characters.npos) return false;
  text.remove_prefix(1);
  return true;
}

std::chrono::year_month_day calendar_day(const Date& date) {
  return std::chrono::year(date.year) / std::chrono::month(static_cast<unsigned>(date.month)) /
         std::chrono::day(static_cast<unsigned>(date.day));
}

int weekday(const Date& date) {
  const std::chrono::weekday day(std::chrono::sys_days(calendar_day(date)));
  return static_cast<int>(day.iso_encoding()) - 1;
}

// 2016-02-28 or 2016/02/28: the same separator twice.
bool take_year_first(std::string_view& text, Date& date) {
  if (text.size() < 10 || (text[4] != '-' && text[4] != '/') || text[7] != text[4]) return false;
  return take_number(text, 4, 4, date.year) && take_one_of(text, "-/") &&
         take_number(text, 2, 2, date.month) && take_one_of(text, "-/") &&
         take_number(text, 2, 2, date.day);
}

// 28.2.2016, 2/28/2016, 28 Feb 2016, Feb 28, 2016.
bool take_year_last(std::string_view& text, Date& date, DateOrder order) {
  const bool day_first = order == DateOrder::kDayFirst;
  const bool named = !text.empty() && !is_digit(text[0]);
  if (named) {
    if (day_first || !take_month(text, date.month) || !take_one_of(text, " ") ||
        !take_number(text, 1, 2, date.day))
      return false;
    take_one_of(text, ",");
    return take_one_of(text, " ") && take_number(text, 4, 4, date.year);
  }
  int first = 0, second = 0;
  if (!take_number(text, 1, 2, first) || text.empty()) return false;
  const std::string_view separator = text.substr(0, 1);
  if (!take_one_of(text, "./- ")) return false;
  const bool month_named = !text.empty() && !is_digit(text[0]);
  if (month_named ? !day_first || !take_month(text, second)
                  : separator == " " || !take_number(text, 1, 2, second))
    return false;
  date.day = day_first ? first : second;
  date.month = day_first ? second : first;
  return take_one_of(text, separator) && take_number(text, 4, 4, date.year);
}

// Z, +02:00, +0200, +02, UTC, GMT.
bool take_zone(std::string_view& text) {
  int hours = 0, minutes = 0;
  std::string_view rest = text;
  take_one_of(rest, " ");
  if (rest == "Z" || rest == "UTC" || rest == "GMT") {
    rest = {};
  } else if (take_one_of(rest, "+-")) {
    if (!take_number(rest, 2, 2, hours)) return false;
    take_one_of(rest, ":");
    if (!rest.empty() && !take_number(rest, 2, 2, minutes)) return false;
  } else {
    return false;
  }
  text = rest;
  return rest.empty() && hours <= 15 && minutes < 60;
}

// AM or PM, where there is one.
void take_half(std::string_view& text, Date& date) {
  std::string_view rest = text;
  take_one_of(rest, " ");
  if (rest.size() < 2 || lower(rest[1]) != 'm' || date.hour > 12) return;
  const char half = lower(rest[0]);
  if (half != 'a' && half != 'p') return;
  date.hour = date.hour % 12 + (half == 'p' ? 12 : 0);
  text = rest.substr(2);
}

bool take_time(std::string_view& text, Date& date) {
  int second = 0, fraction = 0;
  if (!take_number(text, 1, 2, date.hour) || !take_one_of(text, ":") ||
      !take_number(text, 2, 2, date.minute))
    return false;
  if (take_one_of(text, ":")) {
    if (!take_number(text, 2, 2, second)) return false;
    if (take_one_of(text, ".,")) {
      if (!take_number(text, 1, 9, fraction)) return false;
    }
  }
  take_half(text, date);
  return date.hour < 24 && date.minute < 60 && second <= 60;
}

}  // namespace

const std::vector<DateOrderName>& date_orders() {
  static const std::vector<DateOrderName> orders{{DateOrder::kYearFirst, "year-first"},
                                                 {DateOrder::kDayFirst, "day-first"},
                                                 {DateOrder::kMonthFirst, "month-first"}};
  return orders;
}

bool parse_date(std::string_view text, Date& date, DateOrder order) {
  date = {};
  const bool day = order == DateOrder::kYearFirst ? take_year_first(text, date)
                                                  : take_year_last(text, date, order);
  if (!day || !calendar_day(date).ok()) return false;
  if (text.empty()) return true;
  take_one_of(text, ",");
  if (!take_one_of(text, " T") || !take_time(text, date)) return false;
  return text.empty() || take_zone(text);
}

const std::vector<DatePart>& date_parts() {
  static const std::vector<DatePart> parts{
      {"year", [](const Date& d) { return d.year; }},
      {"month", [](const Date& d) { return d.month; }},
      {"day", [](const Date& d) { return d.day; }},
      {"weekday", weekday},
      {"hour", [](const Date& d) { return d.hour; }},
      {"minute", [](const Date& d) { return d.minute; }},
  };
  return parts;
}

const DatePart& date_part_named(std::string_view name) {
  return entry_named("part of a date", date_parts(), name);
}

}  // namespace udv::net

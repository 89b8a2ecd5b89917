// SPDX-License-Identifier: MIT
#include "net/calendar.hpp"

#include <chrono>

#include "core/parse.hpp"
#include "net/named_entries.hpp"

namespace udv::net {
namespace {

// Takes `digits` digits and then one of the separators, or the end where there are none.
bool take(std::string_view& text, std::size_t digits, std::string_view separators, int& value) {
  if (text.size() < digits) return false;
  if (!parse_all(text.substr(0, digits), value) || value < 0) return false;
  text.remove_prefix(digits);
  if (text.empty()) return true;
  if (separators.find(text[0]) == separators.npos) return false;
  text.remove_prefix(1);
  return !text.empty();
}

std::chrono::year_month_day calendar_day(const Date& date) {
  return std::chrono::year(date.year) / std::chrono::month(static_cast<unsigned>(date.month)) /
         std::chrono::day(static_cast<unsigned>(date.day));
}

int weekday(const Date& date) {
  const std::chrono::weekday day(std::chrono::sys_days(calendar_day(date)));
  return static_cast<int>(day.iso_encoding()) - 1;
}

}  // namespace

bool parse_date(std::string_view text, Date& date) {
  date = {};
  if (text.size() < 10 || (text[4] != '-' && text[4] != '/') || text[7] != text[4]) return false;
  const std::string_view separator = text.substr(4, 1);
  int second = 0;
  if (!take(text, 4, separator, date.year) || !take(text, 2, separator, date.month) ||
      !take(text, 2, " T", date.day) || !calendar_day(date).ok())
    return false;
  if (text.empty()) return true;
  if (!take(text, 2, ":", date.hour) || text.empty() || !take(text, 2, ":", date.minute))
    return false;
  if (!text.empty() && !take(text, 2, "", second)) return false;
  return text.empty() && date.hour < 24 && date.minute < 60 && second <= 60;
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

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace udv::net {

/// A day and, where given, a time of it.
struct Date {
  int year = 0, month = 1, day = 1, hour = 0, minute = 0;
};

/// "2016-02-28", "2016/02/28", with "02:23" or "02:23:02" after a blank or a T. False where the
/// text is none, or no day of the calendar.
bool parse_date(std::string_view text, Date& date);

/// What a network can learn from: year, month, day, weekday (Monday 0), hour, minute. Seconds are
/// left out.
struct DatePart {
  std::string_view name;
  int (*of)(const Date&);
};
const std::vector<DatePart>& date_parts();
/// Throws InvalidArgument where there is none of this name.
const DatePart& date_part_named(std::string_view name);

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace udv::net {

/// A day and, where given, a time of it.
struct Date {
  int year = 0, month = 1, day = 1, hour = 0, minute = 0;
};

/// In which order the numbers of a date stand.
enum class DateOrder {
  kYearFirst,   ///< 2016-02-28, 2016/02/28
  kDayFirst,    ///< 28.02.2016, 28/02/2016, 28 Feb 2016, 28-Feb-2016
  kMonthFirst,  ///< 02/28/2016, Feb 28, 2016
};
struct DateOrderName {
  DateOrder order;
  std::string_view name;
};
const std::vector<DateOrderName>& date_orders();

/// A date in this order, with "02:23", "02:23:02" or "02:23:02.5" after a blank or a T, AM or PM,
/// and a time zone (Z, +02:00, -0500) that is read and left aside: the hour is that of the clock on
/// the wall. False where the text is none, or no day of the calendar.
bool parse_date(std::string_view text, Date& date, DateOrder order = DateOrder::kYearFirst);

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

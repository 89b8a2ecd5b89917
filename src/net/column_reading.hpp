// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "net/calendar.hpp"
#include "net/missing.hpp"
#include "net/number_style.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {

/// What the whole table says of a column.
struct ColumnFacts {
  ColumnKind kind = ColumnKind::kCategory;
  std::string style;  ///< of its numbers or dates; empty: plain numbers, year-first dates
  Index distinct = 0, present = 0;
  Index numbers = 0, first_word = -1;  ///< fields that are numbers; the first row where one is none
  Index example = -1;                  ///< a row that is written in this style
  bool ambiguous = false;              ///< dates that fit day-first and month-first alike
};
ColumnFacts facts_of(const io::TextTable& table, Index column);

/// Says how an unusual column was read, or that numbers and words are mixed.
void note_reading(const io::TextTable& table, Index column, const ColumnFacts& facts,
                  std::vector<std::string>& notes);

/// A finite number in the style, NaN where it is missing. Throws IoError naming line and column.
double number_at(const io::TextTable& table, Index row, Index column, const std::string& style);

bool parse_number_as(std::string_view field, const std::string& style, double& value);
bool parse_date_as(std::string_view field, const std::string& style, Date& date);

/// Throws InvalidArgument where a style of this name does not exist for such a column.
void check_style(ColumnKind kind, const std::string& style);

}  // namespace udv::net

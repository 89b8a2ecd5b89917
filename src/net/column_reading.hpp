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
  /// Of its numbers or dates; empty: plain numbers, year-first dates. A unit stands behind the name
  /// of the style: "plain kg".
  std::string style;
  Index distinct = 0, present = 0;
  Index numbers = 0, first_word = -1;  ///< fields that are numbers; the first row where one is none
  Index example = -1;                  ///< a row that is written in this style
  bool ambiguous = false;              ///< dates that fit day-first and month-first alike
  /// Units of a column of numbers with different ones, which is taken for words; else empty.
  std::vector<std::string> units;
};
ColumnFacts facts_of(const io::TextTable& table, Index column);

/// Says how an unusual column was read, or that numbers and words are mixed.
void note_reading(const io::TextTable& table, Index column, const ColumnFacts& facts,
                  std::vector<std::string>& notes);

/// A finite number in the style, NaN where it is missing. Throws IoError naming line and column.
double number_at(const io::TextTable& table, Index row, Index column, const std::string& style);

bool parse_number_as(std::string_view field, const std::string& style, double& value);
/// For errors: " in kg", or nothing.
std::string in_unit(const std::string& style);
bool parse_date_as(std::string_view field, const std::string& style, Date& date);

/// Styles of several targets stand between bars: "plain kg|comma". One serves for all.
std::vector<std::string> styles_in(const std::string& styles);

/// Throws InvalidArgument where a style of this name does not exist for such a column.
void check_style(ColumnKind kind, const std::string& style);

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

namespace udv::net {

/// How the numbers of a column are written. Currency signs, percent signs and brackets for negative
/// numbers are left aside in every style: "$1,200", "12 %", "(5)" are 1200, 12, -5. So are blanks
/// and apostrophes between groups of three digits: "1 200", "1'200".
enum class NumberStyle {
  kPlain,      ///< 1200.5
  kThousands,  ///< 1,200.5
  kComma,      ///< 1200,5 and 1.200,5
};

/// All of them with their names in files.
struct NumberStyleName {
  NumberStyle style;
  std::string_view name;
};
const std::vector<NumberStyleName>& number_styles();

/// A finite number in this style; false where the field is none.
bool parse_styled(std::string_view field, NumberStyle style, double& value);

/// What follows the number that a field begins with: "kg" of "11.3 kg"; empty where there is no
/// number, nothing after it, or too much for a unit.
std::string_view unit_of(std::string_view field);

/// "11.3 " of "11.3 kg", where this is its unit; else the field.
std::string_view without_unit(std::string_view field, std::string_view unit);

}  // namespace udv::net

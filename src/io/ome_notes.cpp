// SPDX-License-Identifier: MIT
#include "ome_notes.hpp"

#include <cmath>
#include <string>

#include "udv/io/text_table.hpp"

namespace udv::io::detail {

std::optional<double> number_attribute(std::string_view notes, std::string_view name) {
  constexpr std::size_t kLongestNumber = 64;
  const std::string start = std::string(name) + "=\"";
  for (auto at = notes.find(start); at != notes.npos; at = notes.find(start, at)) {
    at += start.size();
    const std::string_view rest = notes.substr(at, kLongestNumber + 1);
    const std::size_t end = rest.find('"');
    double value = NAN;
    if (end != rest.npos && parse_number(rest.substr(0, end), value) && std::isfinite(value))
      return value;
  }
  return {};
}

}  // namespace udv::io::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <string_view>

namespace udv {

/// The whole text as one number, without the locale; false, and any value, where it is none.
template <typename Number>
bool parse_all(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace udv

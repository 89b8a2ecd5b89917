// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace udv {

/// True where the pattern describes the whole name; * stands for any text.
inline bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Greedy from star to star; going back to the last star is enough.
  size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace udv

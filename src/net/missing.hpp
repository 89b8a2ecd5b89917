// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace udv::net {

/// Fields of a table that stand for nothing.
inline constexpr const char* kMissingWords[] = {"", "NA", "N/A", "n/a", "NaN", "null", "NULL", "?"};

inline bool is_missing(std::string_view field) {
  for (const char* word : kMissingWords)
    if (field == word) return true;
  return false;
}

}  // namespace udv::net

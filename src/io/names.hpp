// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>

namespace udv::io::detail {

/// ASCII only and without the locale: names of formats, not prose.
inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace udv::io::detail

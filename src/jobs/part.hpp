// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/types.hpp"

namespace udv::jobs {

/// A share of work that is done apart, perhaps on another machine: piece number, number + count,
/// ...
struct Part {
  Index number = 1;  ///< from 1
  Index count = 1;

  bool is_all() const { return count == 1; }
  /// Whether piece `i`, counted from 0, is in this part.
  bool has(std::size_t i) const { return static_cast<Index>(i) % count == number - 1; }
};

/// "2/8"; empty is all. Throws OptionError.
Part read_part(const std::string& text);

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/support.hpp"
#include "udv/core/random.hpp"

namespace udv::cli {

/// `rows` lines of a table with numbers, words and a date; y is nearly linear in them, and kind
/// (a or b) its sign.
inline std::string training_table(int rows, std::uint64_t seed = 1) {
  Random random(seed, 1000);
  std::string text = "id,size,colour,day,y,kind\n";
  const char* const colours[] = {"red", "green", "blue", "NA"};
  for (int i = 0; i < rows; ++i) {
    const double size = random.normal();
    const Index colour = random.below(4), day = 1 + random.below(28);
    const double y = 2 * size + static_cast<double>(colour) + 0.1 * random.normal();
    text += fmt::format("r{},{},{},2020-02-{:02},{},{}\n", i, size, colours[colour], day, y,
                        y > 1 ? "a" : "b");
  }
  return text;
}

}  // namespace udv::cli

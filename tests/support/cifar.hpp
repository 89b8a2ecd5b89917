// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::testing {

/// One record of CIFAR's binary files: its labels (one, or a coarse and a fine one), then the red,
/// the green and the blue plane. Every plane has one value: shade, shade + 1, shade + 2.
inline std::string cifar_record(const std::vector<int>& labels, int shade) {
  constexpr Index kPixels = 32 * 32;
  std::string record;
  for (const int label : labels) record += static_cast<char>(label);
  for (int colour = 0; colour < 3; ++colour)
    record += std::string(kPixels, static_cast<char>(shade + colour));
  return record;
}

}  // namespace udv::testing

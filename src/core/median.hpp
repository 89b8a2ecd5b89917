// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

namespace udv {

/// The middle one of some values; of an even number of them the larger of the two.
inline double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Known entries of a rows x cols matrix: value[t] stands at (row[t], col[t]), 0-based.
/// Where `symmetric`, an entry also stands at its mirror image and is listed once.
struct UDV_EXPORT Entries {
  Index rows = 0;
  Index cols = 0;
  bool symmetric = false;
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> col;
  std::vector<double> value;
  /// Multiply the squared residuals, none negative; empty: all are 1. A weight of 0 leaves the
  /// entry out.
  std::vector<double> weight = {};

  Index size() const { return static_cast<Index>(value.size()); }
};

}  // namespace udv

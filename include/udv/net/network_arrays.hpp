// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::net {

/// One array of the built-in network for pictures.
struct NamedArray {
  std::string name;
  std::vector<Index> shape;
  std::vector<float> values;
};

/// A UDV block inside that network.
struct BlockInfo {
  std::string name, variant;
  Index inputs = 0, width = 0, outputs = 0, stride = 1;
  bool bias = false, pixels = false;
  Vector<double> spectrum;  ///< of UD
};

}  // namespace udv::net

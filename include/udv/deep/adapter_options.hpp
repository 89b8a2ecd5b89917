// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::deep {

/// Which matrices get adapters, and of what kind.
struct AdapterOptions {
  std::string method = "lora-udv";                ///< or lora
  std::vector<std::string> modules = {"q", "v"};  ///< of q, k, v, o, gate, up, down
  Index rank = 16;
  double deviation = 0.1;  ///< of A's first values; B = 0, d = 1

  /// The variant of net that the method is: UDV or UV.
  const std::string& variant() const;
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

}  // namespace udv::deep

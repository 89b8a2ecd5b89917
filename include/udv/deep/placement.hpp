// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/options.hpp"

namespace udv::deep {

/// The device that a model runs on, and the precision of its numbers.
struct Placement {
  std::string device = "cpu";      ///< or cuda
  std::string precision = "auto";  ///< single or bf16; auto: bf16 on cuda
};
void describe(OptionTable& table, Placement& placement);

}  // namespace udv::deep

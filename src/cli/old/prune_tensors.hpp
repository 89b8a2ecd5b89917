// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common.hpp"
#include "cli/exit_code.hpp"

namespace udv::cli {

/// What to make of the matrices of a safetensors file of any origin.
struct TensorPruning {
  std::string pattern = "*";  ///< names of tensors; * stands for any text
  Index rank = 0;             ///< 0: by energy
  double energy = 0.99;
};

/// Every matrix W (m x n) that the pattern names becomes NAME.up (m x r) and NAME.down (r x n) with
/// W ~ up down, by a truncated SVD, where both together are smaller; all else is copied.
ExitCode prune_tensors(const std::string& file, const TensorPruning& how,
                       const CommonFlags& common);

}  // namespace udv::cli

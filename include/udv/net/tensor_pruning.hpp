// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"
#include "udv/net/calibration.hpp"

namespace udv::net {

/// Which matrices of a safetensors file become factors, and of what rank: one of the four budgets.
struct TensorPruning {
  std::string pattern = "*";  ///< names of tensors; * stands for any text
  Index rank = 0;             ///< at most
  double energy = 0;          ///< share of sum s^2 to keep
  double ratio = 0;           ///< numbers of the file after / before at most
  double max_loss = 0;        ///< predicted increase of the loss at most; needs a calibration
  Calibration calibration;    ///< inputs and gradients of the matrices; may be empty
};

/// One matrix that became two factors.
struct FactoredTensor {
  std::string name;
  std::vector<Index> shape;
  Index rank = 0;
  double share_left = 0;  ///< numbers after / before
};

struct TensorPruningResult {
  std::string bytes;  ///< the new safetensors file
  std::vector<FactoredTensor> factored;
  Index matched = 0;                                    ///< matrices that the pattern names
  Index before = 0, after = 0;                          ///< numbers of all tensors
  Index bytes_before = 0;                               ///< of the file
  std::optional<double> predicted_loss = std::nullopt;  ///< increase, where the calibration tells
};

/// Every matrix W (m x n) that the pattern names becomes NAME.up (m x r) and NAME.down (r x n) with
/// W ~ up down, by a truncated SVD, where both together are smaller; all else is copied. Factors
/// have the number type of W. With a calibration the SVD is that of Cy^1/2 W Cx^1/2. The file may
/// be of any origin. Throws IoError naming it where no matrix fits, a value is not finite or a new
/// name is taken.
UDV_EXPORT TensorPruningResult prune_tensors(const std::filesystem::path& path,
                                             const TensorPruning& how);

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "deep/body.hpp"

namespace udv::deep {

/// Where a training stands between two steps.
struct FinetuneState {
  Index epoch = 0, batch = 0;  ///< the next ones
  double loss_sum = 0;         ///< over the pictures of this epoch so far
  double seconds = 0, learning_seconds = 0;
  std::vector<net::EpochRecord> history;
};

std::string checkpoint_bytes(const FinetuneState& state, const Tensors& arrays,
                             const std::string& settings);

/// Puts the arrays of a checkpoint in place of those given. Throws InvalidArgument where these are
/// no bytes of a checkpoint, or of one with other settings or other shapes.
FinetuneState read_checkpoint(const std::string& bytes, const std::string& settings,
                              Tensors& arrays);

}  // namespace udv::deep

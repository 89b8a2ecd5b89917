// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "deep/feature_network.hpp"

namespace udv::deep {

/// Where a training stands between two steps.
struct FinetuneState {
  Index epoch = 0, batch = 0;  ///< the next ones
  double loss_sum = 0;         ///< over the pictures of this epoch so far
  double seconds = 0, learning_seconds = 0;
  std::vector<net::EpochRecord> history;
};

std::string to_bytes(const FinetuneState& state, const Tensors& arrays);

/// Puts the arrays of a state in place of those given. Throws InvalidArgument where these are no
/// bytes of a state, or of one with arrays of other shapes.
FinetuneState finetune_state_from_bytes(const std::string& bytes, Tensors& arrays);

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include "deep/kernels.hpp"

namespace udv::deep {

/// V diag(w) in the given type, with gradients for both; one pass over V each way where there are
/// kernels for it.
torch::Tensor scaled_columns(const torch::Tensor& V, const torch::Tensor& w, torch::Dtype type);

/// The pieces of arrays with so many numbers each, one behind the other, and a place for their
/// squares; on the device of the arrays.
struct Pieces {
  torch::Tensor table, squares;
};
Pieces pieces_of(const std::vector<std::int64_t>& counts, const torch::Device& device);

/// W / max(1, |W|) for arrays that lie in one piece of memory. False where there is no kernel for
/// it; then nothing has happened.
bool project_balls(const torch::Tensor& memory, const Pieces& pieces);

}  // namespace udv::deep

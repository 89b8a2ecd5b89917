// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include "deep/kernels.hpp"

namespace udv::deep {

/// V diag(w) in the given type; one pass over V where there is a kernel for it. No gradients.
torch::Tensor scale_columns(const torch::Tensor& V, const torch::Tensor& w, torch::Dtype type);

/// dV = G diag(w) and dw_j = sum_i G_ij V_ij for the gradient G of V diag(w), in one pass.
struct ScaledGradients {
  torch::Tensor dV, dw;
};
ScaledGradients scale_columns_backward(const torch::Tensor& G, const torch::Tensor& V,
                                       const torch::Tensor& w, const torch::Tensor& counters);
/// What the kernel counts with, on the device of w; for one call at a time, and then for the next.
torch::Tensor column_counters(const torch::Tensor& w);

/// V diag(w) in the given type, with gradients for both.
torch::Tensor scaled_columns(const torch::Tensor& V, const torch::Tensor& w, torch::Dtype type);

/// The pieces of arrays with so many numbers each, one behind the other, and a place for their
/// squares; on the device of the arrays.
struct Pieces {
  torch::Tensor table, squares;
};
Pieces pieces_of(const std::vector<std::int64_t>& counts, const torch::Device& device);

/// W / max(1, |W|) for arrays that lie in one piece of memory, and max(w, 0) for other numbers, of
/// the same device and type where they are defined. False where there is no kernel for it; then
/// nothing has happened.
bool project_balls(const torch::Tensor& memory, const Pieces& pieces,
                   const torch::Tensor& nonnegative);

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

namespace udv::deep {

/// softmax(q k^T / sqrt(head_dim)) v where no token sees a later one, for tensors of single
/// precision on the CPU, batch x heads x tokens x head_dim, with gradients. Some rows of one head
/// at a time: the tokens x tokens scores never leave the cache (after Dao et al. 2022). For
/// LibTorch before 2.0, which has no such function.
torch::Tensor cpu_causal_attention(const torch::Tensor& q, const torch::Tensor& k,
                                   const torch::Tensor& v);

}  // namespace udv::deep

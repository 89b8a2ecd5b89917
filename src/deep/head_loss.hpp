// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

namespace udv::deep {

struct HeadLoss {
  torch::Tensor sum;       ///< of -log p(target), one number of double precision on the device
  torch::Tensor gradient;  ///< of scale * sum by the hidden values; undefined where scale is 0
};

/// Cross entropy of softmax(W h) for every row h of `hidden` (rows x dim), W being frozen
/// (vocabulary x dim). A part of the rows at a time: the rows x vocabulary scores never lie in
/// memory together.
HeadLoss head_loss(const torch::Tensor& hidden, const torch::Tensor& W,
                   const torch::Tensor& targets, double scale);

}  // namespace udv::deep

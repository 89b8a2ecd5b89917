// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include "deep/process_group.hpp"

namespace udv::deep {

struct NormArrays {
  torch::Tensor weight, bias, running_mean, running_var;
};

/// Batch normalisation of N x C x H x W with the means and variances of the pictures of all
/// processes, as one process with the whole batch has them; changes the running ones. N may be 0.
torch::Tensor synchronised_norm(Processes& processes, const torch::Tensor& x,
                                const NormArrays& arrays, double momentum, double epsilon);

}  // namespace udv::deep

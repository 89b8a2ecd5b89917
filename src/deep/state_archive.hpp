// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace udv::deep {

/// Arrays as the bytes of a state.
std::string pack_arrays(const std::vector<torch::Tensor>& arrays);

/// The arrays of a state, on the CPU. Throws InvalidArgument where the bytes are none.
std::vector<torch::Tensor> unpack_arrays(const std::string& bytes);

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

namespace udv::deep {

/// Arrays and the settings of the run that made them, as the bytes of a checkpoint.
std::string pack_arrays(const std::string& settings, const std::vector<torch::Tensor>& arrays);

/// Back, on the CPU. Throws InvalidArgument where the bytes are no checkpoint of the command, or
/// settings differ.
std::vector<torch::Tensor> unpack_arrays(const std::string& bytes, const std::string& settings,
                                         const std::string& command);

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#pragma once

#include <torch/script.h>

#include "udv/deep/udv_linear.hpp"

namespace udv::deep {

/// The TorchScript of a block, with the parameters of the block itself: U, U_bias, D, V, ... Python
/// loads what its save() writes.
torch::jit::Module to_torchscript(const UDVLinearImpl& block);

/// The same for networks of Chain, Dense, Convolution, Norm, Relu, Pool and blocks, by the names of
/// their parts. Throws InvalidArgument for other modules.
torch::jit::Module to_torchscript(const TensorModule& network);

/// head(backbone(x)).
torch::jit::Module joined(const torch::jit::Module& backbone, const torch::jit::Module& head);

}  // namespace udv::deep

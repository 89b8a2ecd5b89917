// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "udv/deep/network_arrays.hpp"
#include "udv/deep/tensor_module.hpp"

namespace udv::deep {

/// All parameters and buffers by name; `parameters` are their values, in order.
std::vector<NamedArray> arrays_of(const ChainImpl& network,
                                  const std::vector<torch::Tensor>& parameters);

std::vector<BlockInfo> blocks_of(const ChainImpl& network);

/// The built-in network with these arrays. Throws InvalidArgument where one is missing or has
/// another shape, or a block stands in no layer's place.
std::shared_ptr<ChainImpl> network_from(std::int64_t channels,
                                        const std::vector<NamedArray>& arrays,
                                        const std::vector<BlockInfo>& blocks);

/// Channels of the pictures that these arrays are for.
std::int64_t channels_of(const std::vector<NamedArray>& arrays);

}  // namespace udv::deep

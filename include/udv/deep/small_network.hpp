// SPDX-License-Identifier: MIT
#pragma once

#include "udv/deep/tensor_module.hpp"

namespace udv::deep {

/// Images to 128 features: 3 x 3 convolutions that halve the picture twice, 1 x 1 convolutions
/// between them, mean over the picture, one dense layer. 130,000 weights.
std::shared_ptr<ChainImpl> small_network(std::int64_t channels);

}  // namespace udv::deep

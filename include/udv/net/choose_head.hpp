// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// Where the variant is left at auto: UDV-ReLU, or UDV where a linear model is better. Sets
/// options.variant and returns why, in words; empty where the variant was given.
template <typename Real>
UDV_EXPORT std::string choose_head(const Dataset<Real>& training, const Dataset<Real>& validation,
                                   TrainOptions& options);

}  // namespace udv::net

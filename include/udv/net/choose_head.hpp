// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// Where the variant is left at auto: UDV-ReLU, unless a linear UDV head is clearly better on the
/// validation part after 1,000 steps, with features that are clipped or not. Sets options.variant,
/// takes the clipping out of the data where that is better, and returns why, in words; empty where
/// nothing was to be chosen: the variant was given, there is no validation part, or more than
/// kMostRaceNumbers features in all rows (a linear head has never won there).
inline constexpr Index kMostRaceNumbers = 20'000'000;
template <typename Real>
UDV_EXPORT std::string choose_head(PreparedData<Real>& data, TrainOptions& options);

}  // namespace udv::net

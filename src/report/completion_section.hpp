// SPDX-License-Identifier: MIT
#pragma once

#include "charts.hpp"

namespace udv::report {

/// A finished completion by a walk in the rank.
bool is_completion(const RunView& run);

/// Its answer first: size, share known, rank, noise and errors in words and figures; the criterion
/// over ranks; predicted against held-out values; rows and columns that are weak.
std::vector<Json> completion_blocks(const RunView& run, const Detail& detail);

/// What each fit of the walk has left, over its rank, joined in the order of the walk.
std::vector<Json> walk_chart(const std::string& title, const RunView& run);

}  // namespace udv::report

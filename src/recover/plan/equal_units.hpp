// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "recover/plan/progress.hpp"

namespace udv {

/// The exact answer where rows or columns are of very different sizes: thresholds are relative to
/// all data and would overlook the small ones. Where the answer is ill-conditioned in one choice
/// of units, another one may lead to a lower rank. Nothing where all sizes are alike or no fit is
/// exact. `pause_after` as for a walk.
template <typename Scalar>
std::optional<RankWalkOutcome<Scalar>> walk_in_equal_units(const PreparedProblem<Scalar>& problem,
                                                           const RecoverOptions& options,
                                                           Index pause_after,
                                                           Progress<Scalar>& progress);

}  // namespace udv

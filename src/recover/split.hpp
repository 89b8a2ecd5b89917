// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include "udv/core/export.hpp"
#include "udv/recover/problem.hpp"

namespace udv {

/// Measurements that are used and measurements that are held out, chosen by the seed.
template <typename Scalar>
UDV_EXPORT std::pair<BasicProblem<Scalar>, BasicProblem<Scalar>> split(
    const BasicProblem<Scalar>& problem, double held_out_share, std::uint64_t seed);

}  // namespace udv

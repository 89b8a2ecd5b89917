// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "udv/core/types.hpp"

namespace udv {

/// Projects U onto the Frobenius ball |U|_F <= radius. True where it lay outside.
template <typename Dense>
bool project_frobenius_ball(Dense&& U, double radius) {
  const double norm = U.norm();
  const bool outside = norm > radius;
  if (outside) U *= static_cast<typename std::decay_t<Dense>::RealScalar>(radius / norm);
  return outside;
}

/// Projects d onto the nonnegative orthant.
template <typename Dense>
void project_nonnegative(Eigen::PlainObjectBase<Dense>& d) {
  d = d.cwiseMax(0);
}

}  // namespace udv

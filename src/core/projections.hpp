// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <type_traits>

#include "core/sums.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Projects U, whose entries lie one after the other, onto the Frobenius ball |U|_F <= radius.
/// True where it lay outside.
template <typename Dense>
bool project_frobenius_ball(Dense&& U, double radius) {
  using Real = typename std::decay_t<Dense>::RealScalar;
  const Index size = kParts<typename std::decay_t<Dense>::Scalar> * U.size();
  auto* const values = reals_of(U.data());
  const double norm = std::sqrt(dot(values, values, size));
  const bool outside = norm > radius;
  if (outside) scale(static_cast<Real>(radius / norm), values, size);
  return outside;
}

/// Projects d onto the nonnegative orthant.
template <typename Dense>
void project_nonnegative(Eigen::PlainObjectBase<Dense>& d) {
  d = d.cwiseMax(0);
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

namespace udv {

/// Real numbers seen as Scalars: the same ones, or pairs of them as complex numbers.
template <typename Scalar>
Scalar* as_scalars(RealOf<Scalar>* values) {
  return reinterpret_cast<Scalar*>(values);
}
template <typename Scalar>
const Scalar* as_scalars(const RealOf<Scalar>* values) {
  return reinterpret_cast<const Scalar*>(values);
}

}  // namespace udv

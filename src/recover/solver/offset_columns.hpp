// SPDX-License-Identifier: MIT
#pragma once

#include "recover/solver/null_space.hpp"
#include "udv/recover/centering.hpp"

namespace udv {

/// X = U V^T and its offsets as one stack: row biases a are the columns (a; 1), column biases b the
/// columns (1; b), a global offset m the columns (m 1; 1). What may move in them is `allowed`.
template <typename Scalar>
struct StackWithOffsets {
  StackedFactors<Scalar> Z;
  AllowedDirections<Scalar> allowed;
};

template <typename Scalar>
UDV_EXPORT StackWithOffsets<Scalar> with_offsets(const StackedFactors<Scalar>& Z, Centering center,
                                                 const Biases& biases);

}  // namespace udv

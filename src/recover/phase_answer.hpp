// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/recover/phase.hpp"

namespace udv {

/// X = x x^* as an answer to the measurements b of X; `left_out`: entries of x (1) that are no part
/// of the model, or empty.
template <typename Scalar>
BasicRecovery<Scalar> rank_one_answer(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                      const Vector<Scalar>& x, std::vector<char> left_out);

}  // namespace udv

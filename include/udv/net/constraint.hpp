// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// Where one array of parameters has to lie.
enum class Constraint {
  kFree,
  kBall,         ///< |W|_F <= 1
  kNeuronBalls,  ///< |w_j| <= 1 for the weights of every hidden neuron j
  kNonnegative,  ///< w >= 0
};

constexpr bool is_ball(Constraint constraint) {
  return constraint == Constraint::kBall || constraint == Constraint::kNeuronBalls;
}

/// How the weights of one neuron lie in an array: as a row (weights into it) or as a column (out).
enum class Neurons { kRows, kColumns };

/// Projects W (rows x cols, row-major) onto its set. O(size).
template <typename Real>
UDV_EXPORT void project(Constraint constraint, Neurons neurons, Eigen::Ref<RowMatrix<Real>> W);

/// The same for the balls of neurons that are rows of W with an entry of `bias` each:
/// |(w_j, b_j)| <= 1.
template <typename Real>
UDV_EXPORT void project_neurons(Eigen::Ref<RowMatrix<Real>> W, Eigen::Ref<RowMatrix<Real>> bias);

}  // namespace udv::net

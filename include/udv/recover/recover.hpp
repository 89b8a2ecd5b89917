// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/factors/stacked_factors.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/projected_gradient.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// An answer for fewer data, to start from: X = U V^T and offsets beside it, in the caller's units.
struct EarlierAnswer {
  StackedFactors<double> Z;
  Centering center = Centering::kNone;
  Biases biases;
  bool noisy = false;  ///< no fit was exact
};

/// The observer is called at recorded iterations, and every 50 ms.
template <typename Scalar>
struct BasicHooks : Hooks {
  /// Called before the first gradient step and after those that `snapshot_at` names.
  std::function<void(const BasicGradientState<Scalar>&)> snapshot;
  std::vector<Index> snapshot_at;
  /// For entries of real rectangular matrices. Where it was noisy, variational Bayes goes on from
  /// it and no walk is made, unless the new data look different.
  std::shared_ptr<const EarlierAnswer> earlier;
};

using RecoverHooks = BasicHooks<double>;

/// Throws InvalidArgument where recover() would, without solving anything.
template <typename Scalar>
UDV_EXPORT void check(const BasicProblem<Scalar>& problem, const RecoverOptions& options);

/// Recovers a low-rank X from its measurements. With the default options nothing is to be chosen:
/// a walk in the rank with second-order fits finds the smallest rank that explains the data, and
/// the answer comes with a certificate. Without `rank_walk` it is projected gradient alone.
/// Same problem, options and seed: same bits, for any number of threads.
template <typename Scalar>
UDV_EXPORT BasicRecovery<Scalar> recover(const BasicProblem<Scalar>& problem,
                                         const RecoverOptions& options = {},
                                         const BasicHooks<Scalar>& hooks = {});

}  // namespace udv

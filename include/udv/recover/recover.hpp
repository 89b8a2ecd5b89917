// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "udv/recover/problem.hpp"
#include "udv/recover/solver/checkpoint.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What a caller may hang onto a solve.
template <typename Scalar>
struct BasicHooks {
  Observer observer;  ///< at recorded iterations, and every 50 ms
  /// When stopped early, and now and then.
  std::function<void(const BasicCheckpoint<Scalar>&)> save;
  double save_every_seconds = 30;
  const BasicCheckpoint<Scalar>* resume = nullptr;  ///< go on from here, to the same numbers
  /// Called before the first gradient step and after those that `snapshot_at` names.
  std::function<void(const BasicGradientState<Scalar>&)> snapshot;
  std::vector<Index> snapshot_at;
};

using RecoverHooks = BasicHooks<double>;

/// Throws InvalidArgument where recover() would, without solving anything.
template <typename Scalar>
void check(const BasicProblem<Scalar>& problem, const RecoverOptions& options);

/// Recovers a low-rank X from its measurements. With the default options nothing is to be chosen:
/// a walk in the rank with second-order fits finds the smallest rank that explains the data, and
/// the answer comes with a certificate. With `polish` off it is projected gradient alone.
/// Same problem, options and seed: same bits, for any number of threads.
template <typename Scalar>
BasicRecovery<Scalar> recover(const BasicProblem<Scalar>& problem,
                              const RecoverOptions& options = {},
                              const BasicHooks<Scalar>& hooks = {});

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/recover/problem.hpp"
#include "udv/recover/solver/checkpoint.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What a caller may hang onto a solve.
struct RecoverHooks {
  Observer observer;                            ///< at recorded iterations, and every 50 ms
  std::function<void(const Checkpoint&)> save;  ///< when stopped early, and now and then
  double save_every_seconds = 30;
  const Checkpoint* resume = nullptr;  ///< go on from here, to the same numbers
};

/// Throws InvalidArgument where recover() would, without solving anything.
void check(const Problem& problem, const RecoverOptions& options);

/// Recovers a low-rank X from its measurements. With the default options nothing is to be chosen:
/// a walk in the rank with second-order fits finds the smallest rank that explains the data, and
/// the answer comes with a certificate. With `polish` off it is projected gradient alone.
/// Same problem, options and seed: same bits, for any number of threads.
Recovery recover(const Problem& problem, const RecoverOptions& options = {},
                 const RecoverHooks& hooks = {});

}  // namespace udv

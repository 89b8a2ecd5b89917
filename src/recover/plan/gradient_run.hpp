// SPDX-License-Identifier: MIT
#pragma once

#include "recover/plan/progress.hpp"

namespace udv {

/// Projected gradient, alone or to start a walk, up to its end or until the caller wants to stop:
/// the steps are in progress.state().gradient.
template <typename Scalar>
void run_gradient(const PreparedProblem<Scalar>& problem, const Method& method,
                  const RecoverOptions& options, const BasicHooks<Scalar>& hooks,
                  Progress<Scalar>& progress);

/// The columns that are alive, for a walk; nothing without a gradient run.
template <typename Scalar>
std::optional<StackedFactors<Scalar>> live_columns(const SolveState<Scalar>& state);

/// What a gradient run alone says, in scaled units.
template <typename Scalar>
void take_gradient_facts(const PreparedProblem<Scalar>& problem,
                         const BasicGradientState<Scalar>& state, const RecoverOptions& options,
                         RecoveryFacts& facts);

}  // namespace udv

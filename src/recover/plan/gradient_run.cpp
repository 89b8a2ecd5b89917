// SPDX-License-Identifier: MIT
#include "recover/plan/gradient_run.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/sums.hpp"
#include "recover/solver/balance.hpp"

namespace udv {
namespace {

constexpr Index kDefaultGradientSteps = 100'000;
constexpr Index kStartIterations = 1024;  // longest gradient run before the walk
constexpr double kStartDeadShare = 1e-14;

template <typename Scalar>
GradientOptions gradient_options(const RecoverOptions& options) {
  GradientOptions gradient;
  gradient.alpha = options.alpha.value_or(1);
  const Index limit = options.max_iterations;
  if (options.rank_walk) {
    gradient.max_iterations = limit > 0 ? std::min(limit, kStartIterations) : kStartIterations;
    gradient.stop_when_settled = true;
    gradient.dead_share = kStartDeadShare;
  } else {
    gradient.max_iterations = limit > 0 ? limit : kDefaultGradientSteps;
    gradient.tolerance = options.tolerance.value_or(0);
    gradient.dead_share = kEpsilon<Scalar> * kEpsilon<Scalar>;
  }
  return gradient;
}

// With a walk to come, columns that the data could not determine are not even started.
template <typename Scalar>
BasicGradientState<Scalar> start_of(const PreparedProblem<Scalar>& problem, const Method& method,
                                    const RecoverOptions& options) {
  const auto& op = problem.op();
  const Index columns =
      options.rank_walk ? largest_determined_rank(op, problem.columns()) : problem.columns();
  return ProjectedGradient<Scalar>::start(
      Factorization<Scalar>(method, op.rows(), op.cols(), columns, options.init_norm, options.seed),
      BasicStepRule<Scalar>(options.step));
}

}  // namespace

template <typename Scalar>
void run_gradient(const PreparedProblem<Scalar>& problem, const Method& method,
                  const RecoverOptions& options, const BasicHooks<Scalar>& hooks,
                  Progress<Scalar>& progress) {
  SolveState<Scalar>& state = progress.state();
  if (!state.has_gradient) {
    state.gradient = start_of(problem, method, options);
    state.has_gradient = true;
  }
  // A finished gradient run of an interrupted walk is not run again.
  const GradientStop before = state.gradient.stop;
  if (before != GradientStop::kRunning && before != GradientStop::kObserver) return;
  const auto take_snapshot = [&hooks](const BasicGradientState<Scalar>& now) {
    const auto& wanted = hooks.snapshot_at;
    if (hooks.snapshot && std::find(wanted.begin(), wanted.end(), now.iteration) != wanted.end())
      hooks.snapshot(now);
  };
  ProjectedGradient<Scalar> solver(problem.op(), problem.b(), gradient_options<Scalar>(options));
  take_snapshot(state.gradient);
  solver.run(state.gradient, [&](const BasicGradientState<Scalar>& now) {
    take_snapshot(now);
    return progress.should_continue(progress.recorder().observe(now, problem.unit()));
  });
  progress.recorder().finish(state.gradient, problem.unit());
}

template <typename Scalar>
std::optional<StackedFactors<Scalar>> live_columns(const SolveState<Scalar>& state) {
  if (!state.has_gradient) return std::nullopt;
  return leading_columns(balanced(state.gradient.factors.absorbed()),
                         std::max<Index>(1, state.gradient.live));
}

template <typename Scalar>
void take_gradient_facts(const PreparedProblem<Scalar>& problem,
                         const BasicGradientState<Scalar>& state, const RecoverOptions& options,
                         RecoveryFacts& facts) {
  facts.alpha = options.alpha.value_or(1);
  facts.step = state.step_rule.step();
  facts.iterations = state.iteration;
  facts.objective = state.objective;
  facts.relative_residual = std::sqrt(2 * state.objective / squared_norm(problem.b()));
  switch (state.stop) {
    case GradientStop::kDiverged:
      facts.stop_reason = StopReason::kDiverged;
      break;
    case GradientStop::kIterationLimit:
      facts.stop_reason = StopReason::kIterationLimit;
      break;
    default:
      facts.stop_reason = StopReason::kConverged;
  }
}

#define UDV_INSTANTIATE(Scalar)                                                                    \
  template void run_gradient(const PreparedProblem<Scalar>&, const Method&, const RecoverOptions&, \
                             const BasicHooks<Scalar>&, Progress<Scalar>&);                        \
  template std::optional<StackedFactors<Scalar>> live_columns(const SolveState<Scalar>&);          \
  template void take_gradient_facts(const PreparedProblem<Scalar>&,                                \
                                    const BasicGradientState<Scalar>&, const RecoverOptions&,      \
                                    RecoveryFacts&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

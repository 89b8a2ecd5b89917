// SPDX-License-Identifier: MIT
#include "udv/recover/solver/projected_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/columns.hpp"
#include "core/instantiate.hpp"
#include "core/sums.hpp"
#include "recover/device/gradient_model.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kCountEvery = 16;         // iterations between counts of live columns
constexpr Index kDropEvery = 64;          // iterations between looks for dead columns
constexpr Index kFirstSettled = 64;       // no run has settled before
constexpr double kLiveShare = 1e-2;       // of the largest magnitude
constexpr double kUndecidedShare = 1e-4;  // between this and live: not decided yet
constexpr double kDivergence = 1e6;       // times the objective of X = 0

}  // namespace

template <typename Scalar>
ProjectedGradient<Scalar>::ProjectedGradient(const MeasurementOperator<Scalar>& op,
                                             const Reals<Scalar>& b, GradientOptions options)
    : op_(op),
      b_(b),
      options_(options),
      b_squared_(squared_norm(b)),
      device_(op.gradient_model(b)) {}

template <typename Scalar>
BasicGradientState<Scalar> ProjectedGradient<Scalar>::start(Factorization<Scalar> factors,
                                                            BasicStepRule<Scalar> step_rule) {
  State state;
  state.names.resize(static_cast<size_t>(factors.columns()));
  std::iota(state.names.begin(), state.names.end(), 0);
  state.live = factors.columns();
  state.factors = std::move(factors);
  state.step_rule = std::move(step_rule);
  return state;
}

template <typename Scalar>
void ProjectedGradient<Scalar>::take_step(State& state) {
  if (device_) {
    state.objective = 0.5 * state.factors.differentiate(*device_, gradient_);
  } else {
    state.factors.differentiate(op_, b_, residual_, gradient_);
    state.objective = 0.5 * squared_norm(residual_);
  }
  state.factors.take_step(gradient_, state.step_rule.next(state.factors, gradient_));
  state.ball_active = state.factors.project(options_.alpha);
  ++state.iteration;
}

template <typename Scalar>
void ProjectedGradient<Scalar>::drop_dead_columns(State& state) const {
  const Vector<double> magnitudes = state.factors.magnitudes();
  const double threshold = options_.dead_share * magnitudes.maxCoeff();
  std::vector<Index> dead;
  // Without a ball nothing pushes columns down; a small one may be on its way up.
  if (!state.factors.method().diagonal || !state.ball_active) {
    dead = state.factors.inert_columns();
  } else {
    // A weight at its bound may grow again as long as its vectors are there.
    const Reals<Scalar> lengths = state.factors.lengths();
    const double shortest = options_.dead_share * lengths.maxCoeff();
    for (Index c = 0; c < magnitudes.size(); ++c)
      if (!(magnitudes(c) > threshold) && (state.factors.d()(c) > 0 || !(lengths(c) > shortest)))
        dead.push_back(c);
  }
  if (dead.empty() || static_cast<Index>(dead.size()) == magnitudes.size()) return;
  state.factors.remove(dead);
  state.step_rule.remove(dead);
  const auto kept = complement(static_cast<Index>(state.names.size()), dead);
  std::vector<Index> names;
  for (const Index c : kept) names.push_back(state.names[static_cast<size_t>(c)]);
  state.names = std::move(names);
}

template <typename Scalar>
void ProjectedGradient<Scalar>::count_live_columns(State& state) const {
  const Vector<double> magnitudes = state.factors.magnitudes();
  const double largest = magnitudes.maxCoeff();
  const Index live = (magnitudes.array() > kLiveShare * largest).count();
  if (live != state.live) state.live_since = state.iteration;
  state.live = live;
  state.undecided = (magnitudes.array() > kUndecidedShare * largest).count() - live;
}

template <typename Scalar>
bool ProjectedGradient<Scalar>::has_settled(const State& state) const {
  return state.iteration >= kFirstSettled && state.undecided == 0 &&
         state.live_since <= state.iteration / 2 && state.factors.norm_u() > 0.99 * options_.alpha;
}

template <typename Scalar>
GradientStop ProjectedGradient<Scalar>::reason_to_stop(const State& state) const {
  if (!(state.objective <= kDivergence * 0.5 * b_squared_)) return GradientStop::kDiverged;
  if (2 * state.objective <= options_.tolerance * options_.tolerance * b_squared_)
    return GradientStop::kConverged;
  if (options_.stop_when_settled && has_settled(state)) return GradientStop::kSettled;
  if (state.iteration >= options_.max_iterations) return GradientStop::kIterationLimit;
  return GradientStop::kRunning;
}

template <typename Scalar>
void ProjectedGradient<Scalar>::run(State& state, const Monitor& monitor) {
  state.stop = GradientStop::kRunning;
  while (state.stop == GradientStop::kRunning) {
    take_step(state);
    if (state.iteration % kCountEvery == 0) count_live_columns(state);
    if (state.iteration % kDropEvery == 0) drop_dead_columns(state);
    state.stop = reason_to_stop(state);
    if (!monitor(state) && state.stop == GradientStop::kRunning)
      state.stop = GradientStop::kObserver;
  }
}

#define UDV_INSTANTIATE(Scalar) template class ProjectedGradient<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

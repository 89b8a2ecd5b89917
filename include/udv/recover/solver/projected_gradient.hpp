// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/factors/factorization.hpp"
#include "udv/recover/solver/step_rule.hpp"

namespace udv {

/// When projected gradient ends and which columns it may leave behind.
struct GradientOptions {
  double alpha = 1;
  Index max_iterations = 100'000;
  double tolerance = 0;            ///< relative residual or stationarity that ends the run
  bool stop_when_settled = false;  ///< end when the set of live columns has settled
  /// Columns below this share of the largest magnitude leave. At eps^2 such a u_c is shorter than
  /// the rounding errors of the live columns: no direction is lost that rounding does not seed.
  double dead_share = 4.9e-32;
};

enum class GradientStop { kRunning, kConverged, kSettled, kIterationLimit, kDiverged, kObserver };

/// All that a run of projected gradient knows: enough to go on from, to the same bits.
template <typename Scalar>
struct BasicGradientState {
  Factorization<Scalar> factors;
  BasicStepRule<Scalar> step_rule;
  Index iteration = 0;
  double objective = 0;  ///< 1/2 |A(X) - b|^2 before the last step
  bool ball_active = false;
  Index live = 0;            ///< columns above 1 % of the largest
  Index live_since = 0;      ///< iteration at which that number last changed
  Index undecided = 0;       ///< columns between 0.01 % and 1 % of the largest
  std::vector<Index> names;  ///< original index of each column still present
  GradientStop stop = GradientStop::kRunning;
};

using GradientState = BasicGradientState<double>;

/// Minimises f(X) = 1/2 |A(X) - b|^2 over the factors of X by projected gradient, all factors from
/// the same point: U <- P(U - step grad_U), d <- max(d - step grad_d, 0). With a constant step and
/// D_0 = I this is the algorithm of Hou, Sra and Yurtsever to the letter.
template <typename Scalar>
class UDV_EXPORT ProjectedGradient {
 public:
  using State = BasicGradientState<Scalar>;

  ProjectedGradient(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                    GradientOptions options);

  /// Called after each iteration with the state; false ends the run.
  using Monitor = std::function<bool(const State&)>;

  /// Runs until `state.stop` says why it ended.
  void run(State& state, const Monitor& monitor);

  static State start(Factorization<Scalar> factors, BasicStepRule<Scalar> step_rule);

 private:
  void take_step(State& state);
  void drop_dead_columns(State& state) const;
  void count_live_columns(State& state) const;
  bool has_settled(const State& state) const;
  GradientStop reason_to_stop(const State& state) const;

  const MeasurementOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  GradientOptions options_;
  double b_squared_;
  std::shared_ptr<const device::GradientModel<RealOf<Scalar>>> device_;  // where the operator is
  Reals<Scalar> residual_;
  FactorGradient<Scalar> gradient_;
};

}  // namespace udv

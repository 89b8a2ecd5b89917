// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "core/sums.hpp"
#include "recover/solver/conjugate_gradients.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

/// Levenberg-Marquardt for arrays of the host and of a device.
namespace udv {

inline constexpr double kInitialDamping = 1e-3;  // in units of the mean diagonal of J^T J
inline constexpr double kSmallestDamping = 1e-14;
inline constexpr double kLeastGainRatio = 1e-4;
inline constexpr int kMaxRejections = 10;

/// The point of the iteration: unknowns, residual, objective and gradient. Model is a
/// ResidualModel, or one with the same functions for arrays of a device.
template <typename Model>
class Fit {
 public:
  using ThinMatrix = typename Model::ThinMatrix;
  using Residual = typename Model::Residual;

  Fit(const Model& model, ThinMatrix& Z, const FitOptions& options)
      : model_(model), Z_(Z), options_(options), data_norm_(model.data_norm()) {
    evaluate(Z_, residual_, data_term_, objective_);
    update_gradient();
    first_gradient_norm_ = gradient_norm();
  }

  double data_term() const { return data_term_; }
  double objective() const { return objective_; }
  double damping() const { return damping_; }
  double gradient_norm() const { return std::sqrt(squared_norm(gradient_)); }
  double relative_residual() const { return std::sqrt(2 * data_term_) / data_norm_; }
  int inner() const { return inner_; }

  // One accepted step; false where none lowers the objective.
  bool step() {
    const auto model = model_.linearize(Z_);
    const double unit = std::max(model->mean_diagonal(), 1e-300);
    if (damping_ < 0) damping_ = kInitialDamping * unit;
    bool accepted = false;
    for (int tries = 0; !accepted && tries <= kMaxRejections; ++tries) {
      accepted = try_step(*model);
      if (!accepted) {
        damping_ = std::max(damping_ * growth_, kSmallestDamping * unit);
        growth_ *= 2;
      }
    }
    damping_ = std::max(damping_, kSmallestDamping * unit);
    return accepted;
  }

 private:
  template <typename Linear>
  bool try_step(Linear& model) {
    model.factor_preconditioner(damping_ + options_.ridge);
    conjugate_gradients(model, gradient_, damping_ + options_.ridge, cg_tolerance(),
                        options_.max_cg, work_);
    inner_ += work_.steps;
    set_sum(Z_, work_.delta, trial_);
    double data_term, objective;
    evaluate(trial_, trial_residual_, data_term, objective);
    // With H = J^T J + (lambda + mu) I and H delta = -g - r the model predicts
    // -g.delta - 1/2 delta.(H - lambda) delta = 1/2 (-g.delta + r.delta + lambda |delta|^2).
    const double predicted =
        0.5 * (-dot(gradient_, work_.delta) + dot(work_.residual, work_.delta) +
               damping_ * squared_norm(work_.delta));
    const double ratio = (objective_ - objective) / predicted;
    const bool accepted = predicted > 0 && ratio > kLeastGainRatio;
    if (accepted) {
      Z_.swap(trial_);
      residual_.swap(trial_residual_);
      data_term_ = data_term;
      objective_ = objective;
      damping_ *= std::max(0.2, 1 - std::pow(2 * ratio - 1, 3));
      growth_ = 2;
      update_gradient();
    }
    return accepted;
  }

  void evaluate(const ThinMatrix& Z, Residual& residual, double& data_term,
                double& objective) const {
    model_.residual(Z, residual);
    data_term = 0.5 * squared_norm(residual);
    objective = data_term + 0.5 * options_.ridge * squared_norm(Z);
  }

  void update_gradient() {
    model_.gradient(Z_, residual_, gradient_);
    if (options_.ridge > 0) add_multiple(options_.ridge, Z_, gradient_);
  }

  // Loose while far away (or regularised), tighter as the residual or the gradient falls.
  double cg_tolerance() const {
    if (options_.ridge > 0 && options_.small_gain > 1e-3) return 0.1;
    const double progress = std::min(relative_residual(), gradient_norm() / first_gradient_norm_);
    return std::max(options_.min_cg_tolerance, std::min(0.1, progress));
  }

  const Model& model_;
  ThinMatrix& Z_;
  const FitOptions& options_;
  double data_norm_, data_term_ = 0, objective_ = 0, first_gradient_norm_ = 1;
  double damping_ = -1, growth_ = 2;
  int inner_ = 0;
  Residual residual_, trial_residual_;
  ThinMatrix gradient_, trial_;
  BasicLinearSolve<ThinMatrix> work_;
};

/// `Real`: the type of the measurements.
template <typename Real, typename Model>
FitSummary run_fit(const Model& model, typename Model::ThinMatrix& Z, const FitOptions& options,
                   const FitMonitor& monitor) {
  Fit<Model> fit(model, Z, options);
  FitSummary summary;
  // Rounding of the measurements themselves: nothing is to be gained below.
  const double residual_target = std::max(options.residual_target, 8 * kEpsilon<Real>);
  int small_gains = 0;
  while (summary.outer < options.max_outer && small_gains < options.patience &&
         fit.relative_residual() > residual_target &&
         fit.gradient_norm() > options.gradient_target && !summary.stopped) {
    const double before = fit.objective();
    if (!fit.step()) break;
    ++summary.outer;
    small_gains = fit.objective() > (1 - options.small_gain) * before ? small_gains + 1 : 0;
    summary.stopped = monitor && !monitor({fit.data_term(), fit.damping(), Z.cols(), Z.norm()});
  }
  summary.objective = fit.data_term();
  summary.gradient_norm = fit.gradient_norm();
  summary.inner = fit.inner();
  return summary;
}

}  // namespace udv

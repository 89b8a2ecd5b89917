// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "udv/core/export.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {

/// The length of the next gradient step: a constant, or adaptive in the manner of Malitsky and
/// Mishchenko (2020), jointly over (U, d, V):
///   step_k = min(step_(k-1) sqrt(1 + step_(k-1) / step_(k-2)), 1/2 |x_k - x_(k-1)| / |g_k -
///   g_(k-1)|).
/// Separate steps for d and (U, V) would destroy the low-rank bias.
template <typename Scalar>
class UDV_EXPORT BasicStepRule {
 public:
  explicit BasicStepRule(std::optional<double> constant = std::nullopt, double first_step = 1e-3);

  /// The step to take from x with gradient g.
  double next(const Factorization<Scalar>& x, const FactorGradient<Scalar>& g);
  /// Forgets the removed columns.
  void remove(const std::vector<Index>& columns);

  double step() const { return step_; }

  /// Reads or writes every member, for checkpoints.
  template <typename Archive>
  friend void fields(Archive& archive, BasicStepRule& rule) {
    rule.bring_to_host();
    archive(rule.constant_, rule.step_, rule.previous_step_, rule.started_);
    archive(rule.last_Z_, rule.last_d_, rule.last_gradient_Z_, rule.last_gradient_d_);
  }

 private:
  template <typename ThinMatrix>
  void advance(const ThinMatrix& Z, const Reals<Scalar>& d, const ThinMatrix& gradient_Z,
               const Reals<Scalar>& gradient_d, ThinMatrix& last_Z, ThinMatrix& last_gradient_Z);
  void bring_to_host();

  bool constant_;
  double step_;
  double previous_step_;
  bool started_ = false;
  RowMatrix<Scalar> last_Z_, last_gradient_Z_;
  Reals<Scalar> last_d_, last_gradient_d_;
  // Of factors on a device, instead of the two arrays; copies of a rule share it until one moves.
  struct Away;
  std::shared_ptr<Away> away_;
};

using StepRule = BasicStepRule<double>;

}  // namespace udv

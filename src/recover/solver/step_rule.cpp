// SPDX-License-Identifier: MIT
#include "udv/recover/solver/step_rule.hpp"

#include <algorithm>
#include <cmath>

#include "core/columns.hpp"
#include "core/instantiate.hpp"

namespace udv {

template <typename Scalar>
BasicStepRule<Scalar>::BasicStepRule(std::optional<double> constant, double first_step)
    : constant_(constant.has_value()),
      step_(constant.value_or(first_step)),
      previous_step_(step_) {}

template <typename Scalar>
double BasicStepRule<Scalar>::next(const Factorization<Scalar>& x,
                                   const FactorGradient<Scalar>& g) {
  if (constant_) return step_;
  const RowMatrix<Scalar>& Z = x.stack().Z;
  if (started_) {
    const double moved = std::sqrt((Z - last_Z_).squaredNorm() + (x.d() - last_d_).squaredNorm());
    const double turned =
        std::sqrt((g.Z - last_gradient_Z_).squaredNorm() + (g.d - last_gradient_d_).squaredNorm());
    const double grown = step_ * std::sqrt(1 + step_ / previous_step_);
    previous_step_ = step_;
    step_ = turned > 0 ? std::min(grown, 0.5 * moved / turned) : grown;
    // A step of zero would never grow again.
    if (!(step_ > 0)) step_ = previous_step_;
  }
  started_ = true;
  last_Z_ = Z;
  last_d_ = x.d();
  last_gradient_Z_ = g.Z;
  last_gradient_d_ = g.d;
  return step_;
}

template <typename Scalar>
void BasicStepRule<Scalar>::remove(const std::vector<Index>& columns) {
  if (constant_ || !started_) return;
  last_Z_ = without_columns(last_Z_, columns);
  last_gradient_Z_ = without_columns(last_gradient_Z_, columns);
  last_d_ = without_entries(last_d_, columns);
  last_gradient_d_ = without_entries(last_gradient_d_, columns);
}

#define UDV_INSTANTIATE(Scalar) template class BasicStepRule<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

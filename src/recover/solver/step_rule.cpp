// SPDX-License-Identifier: MIT
#include "udv/recover/solver/step_rule.hpp"

#include <algorithm>
#include <cmath>

#include "core/columns.hpp"
#include "core/instantiate.hpp"
#include "recover/device/device.hpp"

namespace udv {

template <typename Scalar>
BasicStepRule<Scalar>::BasicStepRule(std::optional<double> constant, double first_step)
    : constant_(constant.has_value()),
      step_(constant.value_or(first_step)),
      previous_step_(step_) {}

template <typename Scalar>
struct BasicStepRule<Scalar>::Away {
  device::DeviceMatrix<RealOf<Scalar>> Z, gradient_Z;
};

namespace {

template <typename Scalar>
double squared_distance(const RowMatrix<Scalar>& a, const RowMatrix<Scalar>& b) {
  return (a - b).squaredNorm();
}
template <typename T>
double squared_distance(const device::DeviceMatrix<T>& a, const device::DeviceMatrix<T>& b) {
  device::DeviceMatrix<T> difference;
  combine(1, a, -1, b, difference);
  return squared_norm(difference);
}

}  // namespace

template <typename Scalar>
template <typename ThinMatrix>
void BasicStepRule<Scalar>::advance(const ThinMatrix& Z, const Reals<Scalar>& d,
                                    const ThinMatrix& gradient_Z, const Reals<Scalar>& gradient_d,
                                    ThinMatrix& last_Z, ThinMatrix& last_gradient_Z) {
  if (started_) {
    const double moved = std::sqrt(squared_distance(Z, last_Z) + (d - last_d_).squaredNorm());
    const double turned = std::sqrt(squared_distance(gradient_Z, last_gradient_Z) +
                                    (gradient_d - last_gradient_d_).squaredNorm());
    const double grown = step_ * std::sqrt(1 + step_ / previous_step_);
    previous_step_ = step_;
    step_ = turned > 0 ? std::min(grown, 0.5 * moved / turned) : grown;
    // A step of zero would never grow again.
    if (!(step_ > 0)) step_ = previous_step_;
  }
  started_ = true;
  last_Z = Z;
  last_d_ = d;
  last_gradient_Z = gradient_Z;
  last_gradient_d_ = gradient_d;
}

template <typename Scalar>
double BasicStepRule<Scalar>::next(const Factorization<Scalar>& x,
                                   const FactorGradient<Scalar>& g) {
  if (constant_) return step_;
  if (g.away) {
    if (!away_ && started_)
      away_ = std::make_shared<Away>(
          Away{device::uploaded(last_Z_), device::uploaded(last_gradient_Z_)});
    if (!away_) away_ = std::make_shared<Away>();
    if (away_.use_count() > 1) away_ = std::make_shared<Away>(*away_);
    advance(x.lines(), x.d(), *g.away, g.d, away_->Z, away_->gradient_Z);
  } else {
    bring_to_host();
    advance(x.stack().Z, x.d(), g.Z, g.d, last_Z_, last_gradient_Z_);
  }
  return step_;
}

template <typename Scalar>
void BasicStepRule<Scalar>::bring_to_host() {
  if (!away_) return;
  device::download(away_->Z, last_Z_);
  device::download(away_->gradient_Z, last_gradient_Z_);
  away_ = nullptr;
}

template <typename Scalar>
void BasicStepRule<Scalar>::remove(const std::vector<Index>& columns) {
  if (constant_ || !started_) return;
  bring_to_host();
  last_Z_ = without_columns(last_Z_, columns);
  last_gradient_Z_ = without_columns(last_gradient_Z_, columns);
  last_d_ = without_entries(last_d_, columns);
  last_gradient_d_ = without_entries(last_gradient_d_, columns);
}

#define UDV_INSTANTIATE(Scalar) template class BasicStepRule<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

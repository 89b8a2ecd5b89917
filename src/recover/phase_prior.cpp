// SPDX-License-Identifier: MIT
#include "recover/phase_prior.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/instantiate.hpp"

namespace udv {
namespace {

constexpr int kFirstLesson = 6;  // the first messages say little about q and s
constexpr double kLeastShare = 1e-3;

double logistic(double t) {
  return t > 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t));
}

}  // namespace

// For a < -5 by the asymptotic series of Mills' ratio.
LogNormal log_normal_below(double a) {
  constexpr double kHalfLog2Pi = 0.91893853320467274;
  const double log_density = -0.5 * a * a - kHalfLog2Pi;
  double value;
  if (a > -5) {
    value = std::log(0.5 * std::erfc(-a * std::sqrt(0.5)));
  } else {
    const double u = 1 / (a * a);
    value = log_density - std::log(-a) + std::log1p(-u * (1 - 3 * u * (1 - 5 * u)));
  }
  return {value, std::exp(log_density - value)};
}

// Where present: x | r ~ N(m, v), m = r s / (s + S), v = s S / (s + S); and log odds of presence
// log q / (1 - q) + log N(r; 0, s + S) / N(r; 0, S). Complex numbers have two parts.
template <typename Scalar>
auto EntryPrior<Scalar>::gaussian(double r, double S) const -> Moments {
  const double m = r * s_ / (s_ + S), v = s_ * S / (s_ + S);
  const double parts = kIsComplex<Scalar> ? 1 : 0.5;
  const double odds =
      std::log(q_ / (1 - q_)) + parts * (std::log(S / (s_ + S)) + r * r * s_ / (S * (s_ + S)));
  return {logistic(odds), m, v + m * m};
}

// The same for x > 0: N(m, v) cut off at 0, and log 2 P(N(m, v) > 0) more of odds.
template <typename Scalar>
auto EntryPrior<Scalar>::positive(double r, double S) const -> Moments {
  const double m = r * s_ / (s_ + S), v = s_ * S / (s_ + S);
  const LogNormal above = log_normal_below(m / std::sqrt(v));
  const double odds = std::log(2 * q_ / (1 - q_)) + above.value +
                      0.5 * (std::log(S / (s_ + S)) + r * r * s_ / (S * (s_ + S)));
  const double mean = std::max(0.0, m + std::sqrt(v) * above.slope);
  return {logistic(odds), mean, v + m * mean};
}

template <typename Scalar>
void EntryPrior<Scalar>::learn(double present, double square, Index count) {
  if (++calls_ < kFirstLesson || !(present > 0) || !std::isfinite(square)) return;
  q_ = std::clamp(present / static_cast<double>(count), kLeastShare, 1 - kLeastShare);
  s_ = square / present;
}

template <typename Scalar>
double EntryPrior<Scalar>::estimate(const Vector<Scalar>& r, double S, Vector<Scalar>& x) {
  using Real = RealOf<Scalar>;
  if (!prior_.nonnegative && !prior_.sparse) {
    x = r / static_cast<Real>(1 + S);
    return S / (1 + S);
  }
  Scalar turn = 1;
  if (prior_.nonnegative && std::abs(r.sum()) > 0) turn = r.sum() / std::abs(r.sum());
  const double noise = prior_.nonnegative && kIsComplex<Scalar> ? S / 2 : S;
  double present = 0, square = 0, variance = 0;
  x.resize(r.size());
  for (Index j = 0; j < r.size(); ++j) {
    const double size = std::abs(r(j));
    const Moments m = prior_.nonnegative
                          ? positive(std::real(r(j) * Eigen::numext::conj(turn)), noise)
                          : gaussian(size, noise);
    const Scalar direction = prior_.nonnegative ? turn
                             : size > 0         ? Scalar(r(j) / Real(size))
                                                : turn;
    x(j) = direction * static_cast<Real>(m.present * m.mean);
    present += m.present;
    square += m.present * m.square;
    variance += std::max(0.0, m.present * m.square - std::pow(m.present * m.mean, 2));
  }
  learn(present, square, r.size());
  return variance / static_cast<double>(r.size());
}

#define UDV_INSTANTIATE(Scalar) template class EntryPrior<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

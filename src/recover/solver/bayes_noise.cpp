// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_noise.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr double kSmallestShape = 0.5, kLargestShape = 1e4;

// The function of the library writes a variable that all threads share.
double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// KL divergence of Gamma(a, b) (shape, rate) from Gamma(s, s).
class Divergence {
 public:
  explicit Divergence(double s) : s_(s), log_gamma_(log_gamma(s)), log_(std::log(s)) {}

  double of(double a, double b) const {
    return (a - s_) * digamma(a) - log_gamma(a) + log_gamma_ + s_ * (std::log(b) - log_) +
           a * (s_ - b) / b;
  }

 private:
  double s_, log_gamma_, log_;
};

}  // namespace

double digamma(double x) {
  double shift = 0;
  for (; x < 6; x += 1) shift -= 1 / x;
  const double f = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252)));
}

LineNoise::LineNoise(Vector<double> counts)
    : counts_(std::move(counts)), expected_(Vector<double>::Ones(counts_.size())) {}

void LineNoise::update(const Vector<double>& squares, double variance) {
  constexpr Index kLinesPerBlock = 1024;
  Vector<double> likelihood(counts_.size()), distance(counts_.size());  // of each line
  const Divergence divergence(shape_);
  parallel_blocks(counts_.size(), kLinesPerBlock, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      if (!(counts_(i) > 0)) continue;
      const double a = shape_ + 0.5 * counts_(i);
      const double b = shape_ + 0.5 * squares(i) / (expected_(i) * variance);
      const double log_expected = digamma(a) - std::log(b);
      expected_(i) = a / b;
      likelihood(i) = 0.5 * counts_(i) * log_expected - divergence.of(a, b);
      distance(i) = expected_(i) - log_expected;
    }
  });
  log_likelihood_ = 0;
  double excess = 0, lines = 0;
  for (Index i = 0; i < counts_.size(); ++i) {
    if (!(counts_(i) > 0)) continue;
    log_likelihood_ += likelihood(i);
    excess += distance(i);
    lines += 1;
  }
  if (lines > 0) learn_shape(excess / lines - 1);
}

// The maximum of sum E log p(lambda | a): log a - digamma(a) = mean(E lambda - E log lambda) - 1.
void LineNoise::learn_shape(double excess) {
  const double c = std::max(excess, 1e-6);
  shape_ = std::clamp((3 - c + std::sqrt((c - 3) * (c - 3) + 24 * c)) / (12 * c), kSmallestShape,
                      kLargestShape);
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_noise.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kLinesPerBlock = 1024;
constexpr double kLongLine = 1 << 16;  // entries
constexpr double kSmallestShape = 0.5, kLargestShape = 1e4;

// The function of the library writes a variable that all threads share.
double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

// A shape a with what is dear of it.
struct Shape {
  double a, digamma, log_gamma;
};

// KL divergence of Gamma(a, b) (shape, rate) from Gamma(s, s).
class Divergence {
 public:
  explicit Divergence(double s) : s_(s), log_gamma_(log_gamma(s)), log_(std::log(s)) {}

  double of(const Shape& shape, double b, double log_b) const {
    return (shape.a - s_) * shape.digamma - shape.log_gamma + log_gamma_ + s_ * (log_b - log_) +
           shape.a * (s_ - b) / b;
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

LineNoise::LineNoise(Vector<double> counts, LineShares owners)
    : counts_(std::move(counts)),
      expected_(Vector<double>::Ones(counts_.size())),
      owners_(std::move(owners)) {
  if (counts_.size() == 0) return;
  occurs_.resize(static_cast<size_t>(std::min(counts_.maxCoeff(), kLongLine)) + 1);
  for (const double count : counts_)
    if (count <= kLongLine) occurs_[static_cast<size_t>(count)] = 1;
}

void LineNoise::update(const Vector<double>& squares, double variance) {
  // Lines with equally many entries share a shape.
  const auto shape_of = [this](double count) {
    const double a = shape_ + 0.5 * count;
    return Shape{a, digamma(a), log_gamma(a)};
  };
  std::vector<Shape> shapes(occurs_.size());
  for (size_t count = 0; count < shapes.size(); ++count)
    if (occurs_[count]) shapes[count] = shape_of(static_cast<double>(count));
  Vector<double> likelihood(counts_.size()), distance(counts_.size());  // of each line
  const Divergence divergence(shape_);
  const Index first = owners_.begin();
  parallel_blocks(owners_.end(counts_.size()) - first, kLinesPerBlock, [&](Index begin, Index end) {
    for (Index i = first + begin; i < first + end; ++i) {
      if (!(counts_(i) > 0)) continue;
      const Shape shape =
          counts_(i) <= kLongLine ? shapes[static_cast<size_t>(counts_(i))] : shape_of(counts_(i));
      const double b = shape_ + 0.5 * squares(i) / (expected_(i) * variance);
      const double log_b = std::log(b), log_expected = shape.digamma - log_b;
      expected_(i) = shape.a / b;
      likelihood(i) = 0.5 * counts_(i) * log_expected - divergence.of(shape, b, log_b);
      distance(i) = expected_(i) - log_expected;
    }
  });
  for (Vector<double>* const of_lines : {&expected_, &likelihood, &distance})
    owners_.gather(of_lines->data(), sizeof(double));
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

// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"
#include "udv/recover/phase.hpp"

namespace udv {

/// What is known of the entries of x before any measurement, each independently:
///   x_j ~ N(0, 1);
///   sparse: zero with probability 1 - q, else N(0, s);
///   nonnegative: zero with probability 1 - q, else |N(0, s)|, real.
/// q and s are learned from the messages (expectation maximisation).
template <typename Scalar>
class EntryPrior {
 public:
  explicit EntryPrior(const PhasePrior& prior) : prior_(prior) {}

  /// x = E[x | r] and its mean variance, where r_j = x_j + N(0, S). For nonnegative x, r is turned
  /// by the phase of its sum first.
  double estimate(const Vector<Scalar>& r, double S, Vector<Scalar>& x);

 private:
  struct Moments {
    double present, mean, square;  ///< P(x != 0); E |x| along r and E |x|^2 where present
  };
  Moments gaussian(double r, double S) const;
  Moments positive(double r, double S) const;
  void learn(double present, double square, Index count);

  PhasePrior prior_;
  int calls_ = 0;
  double q_ = 0.5, s_ = 2;
};

/// log P(N(0, 1) < a) and its derivative in a.
struct LogNormal {
  double value, slope;
};
LogNormal log_normal_below(double a);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/communicator.hpp"
#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Noise whose size differs between lines: an entry of line i has the variance
/// sigma^2 / (weight lambda_i), with lambda_i ~ Gamma(a, a) of mean 1 and a learned. The posterior
/// of lambda_i is a Gamma distribution, too.
class UDV_EXPORT LineNoise {
 public:
  LineNoise() = default;
  /// All lambda are 1. `counts`: entries of each line. Processes that share the lines update their
  /// own and know all.
  explicit LineNoise(Vector<double> counts, LineShares owners = {});

  bool any() const { return expected_.size() > 0; }
  const Vector<double>& expected() const { return expected_; }  ///< E lambda
  /// From `squares`, the sums of E lambda * weight * E(value - prediction)^2 over each line.
  void update(const Vector<double>& squares, double variance);
  /// sum over lines of count / 2 E log lambda - KL(posterior | prior).
  double log_likelihood() const { return log_likelihood_; }
  /// What has been learned, written to an archive or read from it; the counts are given.
  template <typename Archive>
  void learned(Archive& archive) {
    archive(expected_, shape_, log_likelihood_);
  }

 private:
  void learn_shape(double excess);

  Vector<double> counts_, expected_;
  LineShares owners_;
  std::vector<char> occurs_;  // whether some line has so many entries; not of very long lines
  double shape_ = 5, log_likelihood_ = 0;
};

/// The derivative of log Gamma(x), x > 0.
UDV_EXPORT double digamma(double x);

}  // namespace udv

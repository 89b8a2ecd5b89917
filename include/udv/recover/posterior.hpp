// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// How far the entries of a completed noisy matrix can be trusted. Row i has w_i = (b_i, u_i),
/// column j has w_j = (c_j, v_j), independent Gaussians of D numbers each; the entry is
/// mu + b_i + c_j + u_i . v_j, and an observation of it has noise of variance sigma^2.
class UDV_EXPORT Posterior {
 public:
  /// One record for each line: the mean of w, then the lower triangle of its covariance by rows.
  struct Side {
    Index lines = 0, width = 0;
    std::vector<float> records;
  };
  /// The noise variance is `variance` times row_noise(i) times col_noise(j); empty: 1.
  struct Noise {
    double variance = 0;
    Vector<double> row, col;
    double smallest_count = 0;  ///< > 0: it is also proportional to the entry, at least to this
  };

  Posterior() = default;
  Posterior(Side rows, Side cols, Noise noise);
  /// The same of records of `is_diagonal` covariances: means, then variances.
  Posterior(Side rows, Side cols, Noise noise, bool is_diagonal);

  /// Variance of the entry itself: a^T S_i a + b^T S_j b + tr(S_i S_j) with a = (1, v_j) and
  /// b = (1, u_i), the trace over factors only. O(D^2).
  double variance(Index i, Index j) const;
  /// Standard deviation of an observation of the entry, whose expectation is `value`.
  double deviation(Index i, Index j, double value) const;
  /// How uncertain each row (or column) is: the root mean square standard deviation of its entries
  /// that comes from it alone, sqrt(tr(S_i M)) with M the mean of E (1, v)(1, v)^T over the other
  /// side. O(lines D^2).
  Vector<double> line_deviations(bool rows) const;
  const Noise& noise() const { return noise_; }

  /// Where covariances would need more than this many bytes, only their diagonals are kept.
  static constexpr Index kMostBytes = 200'000'000;
  static bool keeps_diagonals_only(Index lines, Index width) {
    return lines * (width * (width + 3) / 2) * static_cast<Index>(sizeof(float)) > kMostBytes;
  }

  /// Reads or writes every member, for copies in other programs.
  template <typename Archive>
  friend void fields(Archive& archive, Posterior& p) {
    for (Side* const side : {&p.rows_, &p.cols_}) archive(side->lines, side->width, side->records);
    archive(p.noise_.variance, p.noise_.row, p.noise_.col, p.noise_.smallest_count, p.diagonal_);
  }

 private:
  Side rows_, cols_;
  Noise noise_;
  bool diagonal_ = false;
};

}  // namespace udv

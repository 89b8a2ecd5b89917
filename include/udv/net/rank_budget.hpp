// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// A matrix that may be cut to a lower rank.
struct MatrixSpectrum {
  Vector<double> s;  ///< singular values, largest first
  Index cost = 0;    ///< numbers that one rank takes
  Index dense = -1;  ///< numbers where it stays as it is, with nothing dropped; -1: no such form
};

/// How the ranks of many matrices share one budget.
class UDV_EXPORT RankBudget {
 public:
  using Ranks = std::vector<Index>;  ///< one per matrix

  RankBudget() = default;
  /// `others` are numbers that stay, `before` all of them now; no rank is below `least`, 0 or 1.
  RankBudget(std::vector<MatrixSpectrum> matrices, Index others, Index before, Index least = 0);

  std::size_t size() const { return matrices_.size(); }
  const MatrixSpectrum& matrix(std::size_t b) const { return matrices_[b]; }

  /// Smallest ranks that keep this share of sum s^2 of each matrix; 0 for a matrix of zeros.
  Ranks of_energy(double share) const;
  /// This rank at most; 0 for a matrix of zeros.
  Ranks at_most(Index rank) const;
  /// The largest energy for all matrices with numbers after / before <= ratio. Throws
  /// InvalidArgument where even rank 1 is too much.
  double energy_for_ratio(double ratio) const;
  /// The ranks of that energy; where even rank 1 is too much and ranks may be 0, rank 1 for the
  /// matrices that carry most and 0 for the others. Throws InvalidArgument where nothing fits.
  Ranks of_ratio(double ratio) const;
  /// The directions with the largest s^2 / cost of all matrices, within the ratio.
  Ranks by_value(double ratio) const;
  /// The fewest numbers with 1/2 sum of the dropped s^2 <= loss, dropped by s^2 / cost.
  Ranks of_loss(double loss) const;

  bool stays(std::size_t b, Index rank) const;  ///< the matrix as it is takes no more numbers
  Index numbers(const Ranks& ranks) const;
  double ratio(const Ranks& ranks) const;  ///< numbers after / before
  double energy_kept(std::size_t b, Index rank) const;
  double dropped(const Ranks& ranks) const;  ///< 1/2 sum of the dropped s^2

 private:
  struct Direction {
    std::size_t matrix;
    double energy, value;  // s^2, s^2 / cost
  };
  std::vector<Direction> by_falling_value() const;
  std::vector<double> breakpoints() const;
  Index numbers_of(std::size_t b, Index rank) const;

  std::vector<MatrixSpectrum> matrices_;
  Index others_ = 0, before_ = 0, least_ = 0;
};

}  // namespace udv::net

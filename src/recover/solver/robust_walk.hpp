// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "recover/solver/rank_walk.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// A fit with its judgement: how large the noise is, and how many entries are not noise.
template <typename Scalar>
struct JudgedFit {
  StackedFactors<Scalar> Z;
  Reals<Scalar> residual;  ///< A(X) - b
  double sigma = 0;
  Index outliers = 0;
  double score = 0;
};

/// Entries that are not to be trusted, and fits that hardly see the wrong ones. All thresholds are
/// relative to the median modulus of b.
template <typename Scalar>
class UDV_EXPORT RobustWalk {
 public:
  using Values = Reals<Scalar>;
  /// Thrown by every fit once the monitor wants to stop.
  struct Stopped {};

  /// `noise_parameters` were spent on the weights of `op`.
  RobustWalk(EntriesOperator<Scalar> op, Values b, const RankWalkOptions& options,
             FitMonitor monitor, double noise_parameters = 0);

  /// Up from rank 0, one column at a time, by reweighted least squares with Cauchy weights; lines
  /// that the weights have given up are repaired. The best score.
  JudgedFit<Scalar> run();

  /// sigma is that of the entries within five of it; the others count as outliers.
  JudgedFit<Scalar> judged(StackedFactors<Scalar> Z) const;
  /// n log(S / n) + c D n / (n - D), D = dof + m + noise parameters: each of the m entries left out
  /// of the sum S of squares costs as much as a parameter.
  double score(double squares, double dof, Index outliers) const;
  /// Least squares with entry t multiplied by root(t).
  void fit(const Values& root, const FitOptions& options, StackedFactors<Scalar>& Z);
  Values residual_of(const StackedFactors<Scalar>& Z) const;
  /// So many standard deviations, but not less than what counts as zero.
  double threshold(double deviations, double sigma) const;
  /// 1 where |residual| <= limit, else 0.
  static Values within(const Values& residual, double limit);

  /// The fits of run(), one a rank, from rank 1.
  const std::vector<StackedFactors<Scalar>>& visited() const { return visited_; }
  const EntriesOperator<Scalar>& op() const { return op_; }
  const Values& b() const { return b_; }
  Index cap() const { return cap_; }      ///< the largest rank considered; 0: none is
  Index outer() const { return outer_; }  ///< accepted second-order steps
  Index inner() const { return inner_; }  ///< conjugate gradient steps

 private:
  StackedFactors<Scalar> reweighted_fit(StackedFactors<Scalar> Z, double& scale);
  void repair(JudgedFit<Scalar>& so_far);
  double freedom(Index rank) const { return rank > 0 ? op_.degrees_of_freedom(rank) : 0; }

  EntriesOperator<Scalar> op_;
  Values b_;
  std::vector<StackedFactors<Scalar>> visited_;
  RankWalkOptions options_;
  FitMonitor monitor_;
  double noise_parameters_;
  double n_;
  double size_ = 0;  // of the measurements: their median deviation from zero
  double zero_ = 0;  // a residual that counts as zero
  double largest_ridge_ = 0;
  Index cap_ = 0, outer_ = 0, inner_ = 0;
};

/// A fit of a few steps.
UDV_EXPORT FitOptions short_fit(double ridge, int max_outer, double small_gain, int patience);

}  // namespace udv

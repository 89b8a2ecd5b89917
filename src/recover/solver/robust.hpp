// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "recover/solver/rank_walk.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Entries that belong to no low-rank matrix with noise, and a fit of the others.
template <typename Scalar>
struct Outliers {
  std::vector<Index> entries;  ///< numbers of the entries judged wrong, ascending
  double sigma = 0;            ///< standard deviation of the errors of the others
  Index rank = 0;              ///< of the ordinary walk over the others
  StackedFactors<Scalar> start;
  /// A walk over the others with `max_rank` and the options of the search takes these fits instead
  /// of computing them.
  std::vector<RankFit<Scalar>> journal;
  Index max_rank = 0;
  Index iterations = 0;  ///< accepted second-order steps of the search
  Index inner = 0;       ///< their conjugate gradient steps
  bool stopped = false;  ///< by the monitor: no judgement

  bool any() const { return !entries.empty(); }
};

/// Looks for gross errors: a walk up in the rank by reweighted least squares with Cauchy weights,
/// repair of single lines, then rounds of removing what lies too far off and walking over the rest.
/// The smallest penalised score decides, where a removed entry costs as much as a parameter.
/// Nothing is flagged unless an entry lies beyond ten standard deviations of the robust fit; then
/// the ordinary walk over all entries is right as it is. Real numbers only.
template <typename Scalar>
UDV_EXPORT Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                                          const RankWalkOptions& options,
                                          const FitMonitor& monitor = nullptr);

}  // namespace udv

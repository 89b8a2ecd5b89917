// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "recover/solver/line_consensus.hpp"
#include "recover/solver/noise_profile.hpp"
#include "recover/solver/rank_walk.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/problem.hpp"

namespace udv {

/// Entries that belong to no low-rank matrix with noise, and a fit of the others.
template <typename Scalar>
struct Outliers {
  std::vector<Index> entries;  ///< numbers of the entries judged wrong, ascending
  double sigma = 0;            ///< standard deviation of the errors of the others
  ErrorSizes sizes;            ///< as they were when the entries were judged
  /// Where the noise clearly differs in size between entries: entry t has the standard deviation
  /// sigma * noise.relative(t).
  NoiseProfile<Scalar> noise;
  StackedFactors<Scalar> fit;  ///< answer of the ordinary walk over the others, where any() is true
  /// What that walk has started from. In units of the noise a walk from nothing may not see the
  /// first columns.
  std::optional<StackedFactors<Scalar>> start;
  /// A walk over the others with this start, `max_rank` and the options of the search takes these
  /// fits instead of computing them.
  std::vector<RankFit<Scalar>> journal;
  Index max_rank = 0;
  Index iterations = 0;  ///< accepted second-order steps of the search
  Index inner = 0;       ///< their conjugate gradient steps
  bool stopped = false;  ///< by the monitor: no judgement

  bool any() const { return !entries.empty(); }
  /// False: the ordinary walk over the problem as it is given is right.
  bool changes_problem() const { return any() || noise.kind != NoiseKind::kEqual; }
};

/// Looks for gross errors and for noise of different size: a robust walk, again in units of the
/// noise where these differ, then rounds of removing what lies too far off and an ordinary walk
/// over the rest. The smallest score decides, in which a removed entry costs as much as a
/// parameter. Nothing is flagged unless an entry lies farther off than Laplace noise would reach,
/// at least ten standard deviations. Real numbers only.
template <typename Scalar>
UDV_EXPORT Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                                          const RankWalkOptions& options,
                                          const FitMonitor& monitor = nullptr);

/// The problem that is left: entries of positive weight that are not judged wrong, in units of
/// their noise.
template <typename Scalar>
UDV_EXPORT BasicProblem<Scalar> without(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                                        const Outliers<Scalar>& outliers);

/// The entries of lines of which too many were left out to know anything of them; none where
/// there are no such lines, or entries have noise of different size.
template <typename Scalar>
UDV_EXPORT std::vector<Index> entries_of_lost_lines(const EntriesOperator<Scalar>& op,
                                                    const Outliers<Scalar>& outliers);

/// A look at the values alone, O(n): true where some are far too large for their row and column.
/// Then the ordinary walk is probably slow and find_outliers() better comes first. Errors as small
/// as the signal are not seen.
template <typename Scalar>
UDV_EXPORT bool gross_errors_likely(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b);

}  // namespace udv

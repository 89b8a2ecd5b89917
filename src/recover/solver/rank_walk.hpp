// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/operators/measurement_operator.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {

/// A finished fit at one rank.
template <typename Scalar>
struct RankFit {
  StackedFactors<Scalar> Z;
  double objective = 0;  ///< 1/2 |A(X) - b|^2
  int outer = 0;
  int inner = 0;
};

/// How a walk decides which rank is right where no rank leaves a zero residual.
struct RankRule {
  double penalty = 2.2;          ///< c in n log(f/n) + c dof n / (n - dof)
  double noise_sigma = 0;        ///< > 0: the smallest rank whose residual is that of the noise
  double zero_residual = 1e-10;  ///< relative residual that counts as an exact fit
};

struct RankWalkOptions {
  Index max_rank = 0;  ///< 0: as many as the data may determine
  RankRule rule;
  bool shrinkage = true;
  bool exact_only = false;   ///< where no fit is exact, the last fits of noisy data are left out
  bool equal_noise = false;  ///< noise of different size is not looked for
  Index pause_after = 0;     ///< > 0: accepted steps after which the walk ends early
  std::uint64_t seed = 0;
};

/// The largest rank, up to `limit`, whose parameters n measurements outnumber by 1.2; at least 1.
template <typename Scalar>
UDV_EXPORT Index largest_determined_rank(const MeasurementOperator<Scalar>& op, Index limit);

/// Z with columns appended along the `count` most negative directions of the gradient A*(r) of the
/// residual r = A(X) - b, each with the length that is best for it alone; `among`: of the lines it
/// says only. Nothing where no direction lowers |r|.
template <typename Scalar>
UDV_EXPORT std::optional<StackedFactors<Scalar>> with_steepest_columns(
    const MeasurementOperator<Scalar>& op, const Reals<Scalar>& residual,
    const StackedFactors<Scalar>& Z, Index count, std::uint64_t seed,
    const std::function<bool(Index)>& among = nullptr);

/// The ridge mu that leaves only Z = 0, from a few Lanczos steps.
template <typename Scalar>
UDV_EXPORT double largest_ridge(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                std::uint64_t seed);

template <typename Scalar>
struct RankWalkOutcome {
  RankFit<Scalar> fit;
  bool exact = false;      ///< the residual is zero, or that of the given noise
  bool stopped = false;    ///< by the monitor, before the walk was over
  bool paused = false;     ///< after as many steps as it was allowed
  double ridge = 0;        ///< mu of the final, shrunken fit
  double noise_sigma = 0;  ///< estimated (or given) standard deviation of a measurement's error
  Index iterations = 0;    ///< accepted second-order steps
  Index cap = 0;           ///< > 0: not exact, and data for a higher rank are too few to exclude it
  std::vector<std::pair<Index, double>> scores;  ///< (rank, score) of all ranks visited
};

/// Finds the rank by walking in it: fit, add a column along the most negative direction of the
/// gradient, fit again; drop the smallest column, fit again. Ends at the smallest rank that fits
/// exactly; where none does, at the best score. See docs/auto-mode.md.
template <typename Scalar>
class UDV_EXPORT RankWalk {
 public:
  /// `held_out`, where given, maps a fit to its squared error on data the walk does not see; it
  /// then replaces the score.
  RankWalk(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b, RankWalkOptions options);

  void set_monitor(FitMonitor monitor) { monitor_ = std::move(monitor); }
  void set_held_out(std::function<double(const StackedFactors<Scalar>&)> error) {
    held_out_ = std::move(error);
  }
  /// Called with the journal after each fit, for checkpoints.
  void set_on_fit(std::function<void(const std::vector<RankFit<Scalar>>&)> on_fit) {
    on_fit_ = std::move(on_fit);
  }
  /// Fits of an earlier, interrupted walk: taken instead of computed, in order.
  void set_journal(std::vector<RankFit<Scalar>> journal) { journal_ = std::move(journal); }
  const std::vector<RankFit<Scalar>>& journal() const { return journal_; }
  /// How many fits of its journal a walk has used.
  size_t num_fits() const { return replayed_; }

  /// Walks from the given columns, or from nothing.
  RankWalkOutcome<Scalar> run(const std::optional<StackedFactors<Scalar>>& start);
  /// The last fits alone, at the rank of Z, starting there.
  RankWalkOutcome<Scalar> refit(const StackedFactors<Scalar>& Z);

 private:
  struct Stopped {};
  struct Paused {};

  // Steps of the walk, each through the journal.
  const RankFit<Scalar>& fit(StackedFactors<Scalar> Z);
  const RankFit<Scalar>* grow(const RankFit<Scalar>& from, Index count);
  std::optional<StackedFactors<Scalar>> with_columns_by_blocks(const Reals<Scalar>& residual,
                                                               const StackedFactors<Scalar>& Z,
                                                               Index count) const;
  const RankFit<Scalar>& shrink(const RankFit<Scalar>& from);
  RankFit<Scalar> refine(StackedFactors<Scalar> Z, const FitOptions& options);

  // Strategy.
  void climb(const RankFit<Scalar>* from, Index limit);
  void descend(Index from);
  void settle();
  Index joined_blocks(Index rank);
  Index rank_of_determined_part(Index rank);
  RankFit<Scalar> smallest_exact(Index rank);
  RankFit<Scalar> last_fit(const StackedFactors<Scalar>& Z, RankWalkOutcome<Scalar>& outcome);
  RankFit<Scalar> shrunken(RankFit<Scalar> fit, RankWalkOutcome<Scalar>& outcome);

  template <typename Compute>
  RankFit<Scalar> journaled(const Compute& compute);
  const RankFit<Scalar>& record(RankFit<Scalar> fit);
  bool is_exact(const RankFit<Scalar>& fit) const;
  double score(const RankFit<Scalar>& fit) const;
  // Measurements and parameters that say something of rank and noise.
  double measurements() const;
  double degrees_of_freedom(Index rank) const;
  Index best_rank() const;
  double ridge_unit(const StackedFactors<Scalar>& start) const;

  const MeasurementOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  std::optional<EntriesOperator<Scalar>> live_;  // where some lines are all zeros
  RankWalkOptions options_;
  FitMonitor monitor_;
  std::function<double(const StackedFactors<Scalar>&)> held_out_;
  std::vector<RankFit<Scalar>> journal_;
  std::function<void(const std::vector<RankFit<Scalar>>&)> on_fit_;
  size_t replayed_ = 0;
  RankFit<Scalar> unfinished_;
  // Parts of the matrix that no entry joins to the largest one; none where there are very many.
  std::vector<std::pair<std::vector<Index>, std::vector<Index>>> blocks_;
  std::map<Index, RankFit<Scalar>> visited_;  // the best fit of each rank
  std::map<Index, double> scores_;
  std::optional<Index> exact_rank_;
  double largest_ridge_ = 0;
  double b_norm_ = 0;
  Index cap_ = 0;
  bool capped_by_data_ = false;
  Index iterations_ = 0;
};

}  // namespace udv

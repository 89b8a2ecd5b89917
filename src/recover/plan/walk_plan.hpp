// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "recover/plan/noisy_entries.hpp"

namespace udv {

/// What a walk in the rank, and what followed it, has arrived at; in scaled units.
template <typename Scalar>
struct WalkAnswer {
  StackedFactors<Scalar> Z;
  Index exact_rank = 0;        ///< > 0: found in equal units, where the spectrum misleads
  bool clearly_noisy = false;  ///< no walk was needed to see that no fit is exact
};

/// Which walks are made, in which order, and which answer is taken: in equal units, over all
/// entries, over those that are not gross errors; by variational Bayes where no fit is exact.
template <typename Scalar>
class WalkPlan {
 public:
  WalkPlan(PreparedProblem<Scalar>& problem, const RecoverOptions& options,
           Progress<Scalar>& progress, const EarlierAnswer* earlier = nullptr)
      : problem_(problem),
        options_(options),
        progress_(progress),
        earlier_(problem.takes_offsets() ? earlier : nullptr),
        errors_(problem, options, progress),
        noise_(problem, options, progress, errors_) {}

  /// Leaves the problem as it was solved: without gross errors and offsets, with all data.
  WalkAnswer<Scalar> run(RecoveryFacts& facts);

 private:
  RankWalkOutcome<Scalar> best_walk(RecoveryFacts& facts);
  std::optional<StackedFactors<Scalar>> start() const;
  RankWalkOutcome<Scalar> walk(const std::optional<StackedFactors<Scalar>>& start,
                               Index pause_after = 0);
  std::optional<RankWalkOutcome<Scalar>> walk_in_equal_units();
  RankWalkOutcome<Scalar> without_errors(RankWalkOutcome<Scalar> outcome);
  RankWalkOutcome<Scalar> with_joints_closed(RankWalkOutcome<Scalar> outcome) const;
  bool is_beyond_doubt(const RankWalkOutcome<Scalar>& outcome) const;
  bool contradicts_symmetry(const RankWalkOutcome<Scalar>& outcome) const;
  void choose_offsets(RankWalkOutcome<Scalar>& outcome);
  void refit_on_all(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);
  void take_facts(const RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);

  PreparedProblem<Scalar>& problem_;
  const RecoverOptions& options_;
  Progress<Scalar>& progress_;
  const EarlierAnswer* earlier_;
  GrossErrors<Scalar> errors_;
  NoisyEntries<Scalar> noise_;
  WalkAnswer<Scalar> answer_;
};

}  // namespace udv

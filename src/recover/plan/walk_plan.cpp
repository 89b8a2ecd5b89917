// SPDX-License-Identifier: MIT
#include "recover/plan/walk_plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "recover/plan/equal_units.hpp"
#include "recover/plan/gradient_run.hpp"
#include "recover/solver/contradiction.hpp"
#include "recover/solver/offset_columns.hpp"

namespace udv {
namespace {

// Steps of a walk that is worth a search for gross errors: 70 are many without them. Small problems
// have time for more.
Index long_walk(Index measurements) {
  return std::max<Index>(150, 1'000'000 / measurements);
}

// The factors Z of an exact fit beside the offsets with which they need the fewest columns.
void take_exact_offsets(PreparedProblem<double>& problem, Centering wanted, double zero,
                        StackedFactors<double>& Z) {
  OffsetModel start{problem.offsets().center, problem.offsets().biases, Z};
  start.Z.Z /= std::sqrt(problem.scale());
  Vector<double> raw = problem.data();
  if (start.biases.any()) raw += measured(problem.op(), start.biases);
  OffsetModel found = exact_offsets(problem.op(), raw, start, wanted, zero);
  if (found.center == start.center && found.Z.rank() == start.Z.rank()) return;
  Z = std::move(found.Z);
  Z.Z *= std::sqrt(problem.scale());
  problem.take_offsets(std::move(found));
}

}  // namespace

template <typename Scalar>
WalkAnswer<Scalar> WalkPlan<Scalar>::run(RecoveryFacts& facts) {
  RankWalkOutcome<Scalar> outcome;
  answer_.clearly_noisy = earlier_ && earlier_->noisy
                              ? noise_.resume_from(*earlier_, outcome, facts)
                              : noise_.are_clear_at_once(outcome, facts);
  if (!answer_.clearly_noisy) {
    problem_.gather();
    outcome = best_walk(facts);
    if (answer_.clearly_noisy)
      outcome.stopped = outcome.paused = false;
    else if (noise_.possible() && !outcome.exact && !outcome.stopped && answer_.exact_rank == 0)
      noise_.settle(outcome, facts);
    else
      choose_offsets(outcome);
    refit_on_all(outcome, facts);
    if (!outcome.stopped && problem_.offsets().center == Centering::kNone)
      errors_.guess_lost_lines(outcome.fit.Z);
  }
  take_facts(outcome, facts);
  answer_.Z = std::move(outcome.fit.Z);
  return std::move(answer_);
}

// An exact fit of all data is looked for before anything is left out: rows and columns of
// different sizes can look like gross errors.
template <typename Scalar>
RankWalkOutcome<Scalar> WalkPlan<Scalar>::best_walk(RecoveryFacts& facts) {
  if (auto likely = errors_.search_if_likely()) {
    const bool equal_noise = errors_.found().noise.kind == NoiseKind::kEqual;
    if (equal_noise && errors_.has_exact_fit(*likely))
      return with_joints_closed(errors_.walk_over(std::move(*likely)));
    if (auto equal = walk_in_equal_units()) return without_errors(std::move(*equal));
    return with_joints_closed(errors_.walk_over(std::move(*likely)));
  }
  if (auto equal = walk_in_equal_units()) return without_errors(std::move(*equal));
  const auto first = start();
  const size_t before = progress_.fits_used();
  const Index pause_after = errors_.may_remove() ? long_walk(problem_.b().size()) : 0;
  auto outcome = with_joints_closed(walk(first, pause_after));
  if ((outcome.stopped && !outcome.paused) || is_beyond_doubt(outcome)) return outcome;
  if (outcome.paused || !outcome.exact) {
    answer_.clearly_noisy = noise_.are_clear(outcome, facts);
    if (answer_.clearly_noisy) return outcome;
  }
  if (!contradicts_symmetry(outcome)) errors_.search();
  if (auto others = errors_.rest(); others && errors_.rest_is_better(*others, outcome))
    return with_joints_closed(errors_.walk_over(std::move(*others)));
  if (outcome.exact) return without_errors(std::move(outcome));
  if (!outcome.paused || errors_.found().stopped) return outcome;
  progress_.rewind(before);  // the walk goes on: its fits are in the journal
  return walk(first);
}

// The columns of a gradient run, or an earlier exact answer with its offsets as columns.
template <typename Scalar>
std::optional<StackedFactors<Scalar>> WalkPlan<Scalar>::start() const {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (earlier_ && !earlier_->noisy) {
      const Biases rest = difference(earlier_->biases, problem_.offsets().biases);
      StackedFactors<double> Z = earlier_->Z;
      if (rest.any())
        Z = with_offsets(Z, joined(earlier_->center, problem_.offsets().center), rest).Z;
      Z.Z *= std::sqrt(problem_.scale());
      return Z;
    }
  }
  return live_columns(progress_.state());
}

template <typename Scalar>
RankWalkOutcome<Scalar> WalkPlan<Scalar>::walk(const std::optional<StackedFactors<Scalar>>& start,
                                               Index pause_after) {
  RankWalkOptions walk_now = problem_.walk_options();
  walk_now.pause_after = pause_after;
  return progress_.run(problem_, problem_.b(), walk_now, problem_.unit(),
                       [&](RankWalk<Scalar>& each) { return each.run(start); });
}

template <typename Scalar>
std::optional<RankWalkOutcome<Scalar>> WalkPlan<Scalar>::walk_in_equal_units() {
  const Index pause_after = errors_.judged() ? long_walk(problem_.b().size()) : 0;
  auto outcome = udv::walk_in_equal_units(problem_, options_, pause_after, progress_);
  answer_.exact_rank = outcome && outcome->exact ? outcome->fit.Z.rank() : 0;
  return outcome;
}

template <typename Scalar>
RankWalkOutcome<Scalar> WalkPlan<Scalar>::without_errors(RankWalkOutcome<Scalar> outcome) {
  errors_.forget();
  return outcome;
}

// Blocks that few entries join may have too many columns, some for the joints alone.
template <typename Scalar>
RankWalkOutcome<Scalar> WalkPlan<Scalar>::with_joints_closed(
    RankWalkOutcome<Scalar> outcome) const {
  if (!outcome.exact || outcome.stopped || outcome.fit.Z.rank() < 2) return outcome;
  DeterminacyOptions options;
  options.zero_residual = problem_.zero_residual();
  options.seed = options_.seed;
  if (auto lower = with_lower_rank(problem_.op(), problem_.b(), outcome.fit.Z, options)) {
    outcome.fit.Z = std::move(*lower);
    outcome.fit.objective = 0;
  }
  return outcome;
}

// An exact fit with many measurements to spare: each wrong one would have cost a parameter.
template <typename Scalar>
bool WalkPlan<Scalar>::is_beyond_doubt(const RankWalkOutcome<Scalar>& outcome) const {
  constexpr double kSpare = 2.2;
  const Index rank = outcome.fit.Z.rank();
  return outcome.exact && rank > 0 &&
         static_cast<double>(problem_.b().size()) >=
             kSpare * problem_.op().degrees_of_freedom(rank);
}

// Other operators measure intensities, of positive semidefinite matrices whatever the noise says.
template <typename Scalar>
bool WalkPlan<Scalar>::contradicts_symmetry(const RankWalkOutcome<Scalar>& outcome) const {
  const auto& op = problem_.op();
  const auto name = op.name();
  return op.symmetric() && (name == "entries" || name == "dense") && !outcome.exact &&
         contradicts_psd(op, problem_.b(), outcome.fit.Z, RankRule{}.penalty, options_.seed);
}

// The offsets that the data ask for beside the outcome of a walk; noisy ones want a new walk.
template <typename Scalar>
void WalkPlan<Scalar>::choose_offsets(RankWalkOutcome<Scalar>& outcome) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (outcome.stopped || options_.center == Centering::kNone || !problem_.takes_offsets()) return;
    const double zero = problem_.zero_residual() * problem_.data().norm();
    const bool exact = std::sqrt(2 * outcome.fit.objective) <= zero * problem_.scale();
    if (exact || answer_.exact_rank > 0) {
      take_exact_offsets(problem_, options_.center, zero, outcome.fit.Z);
      if (answer_.exact_rank > 0) answer_.exact_rank = outcome.fit.Z.rank();
    } else if (noise_.take_offsets(outcome.fit.Z)) {
      outcome = walk(std::nullopt);
    }
  }
}

// Held-out data have chosen the rank; the answer is a fit of all data at that rank.
template <typename Scalar>
void WalkPlan<Scalar>::refit_on_all(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts) {
  if (!problem_.holds_out() || outcome.stopped) return;
  facts.holdout_rmse = problem_.held_out_rmse(outcome.fit.Z);
  problem_.use_all();
  if (outcome.fit.Z.rank() == 0) return;
  auto scores = std::move(outcome.scores);
  const StackedFactors<Scalar> start = std::move(outcome.fit.Z);
  outcome = progress_.run(problem_, problem_.b(), problem_.walk_options(), problem_.unit(),
                          [&](RankWalk<Scalar>& each) { return each.refit(start); });
  outcome.scores = std::move(scores);
}

template <typename Scalar>
void WalkPlan<Scalar>::take_facts(const RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts) {
  facts.by_rank_walk = true;
  facts.iterations = progress_.recorder().next_iteration() - 1;
  facts.noise_sigma = outcome.noise_sigma / problem_.scale();
  facts.ridge = outcome.ridge;
  facts.scores = outcome.scores;
  facts.rank_cap = outcome.cap;
  facts.indefinite = !outcome.stopped && contradicts_symmetry(outcome);
  if (outcome.stopped && progress_.over_limit()) facts.stop_reason = StopReason::kIterationLimit;
  facts.outliers = errors_.places();
  facts.outliers_removed = options_.robust && errors_.found().any();
  facts.noise_by = errors_.found().noise.kind;
}

#define UDV_INSTANTIATE(Scalar) template class WalkPlan<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

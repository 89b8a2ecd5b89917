// SPDX-License-Identifier: MIT
#include "recover/solver/rank_walk.hpp"

#include <gtest/gtest.h>

#include "support/planted_problems.hpp"

namespace udv {
namespace rank_walk_test {

using testing::planted_entries;
using testing::PlantedProblem;
using testing::random_rows;

using Walk = RankWalk<double>;
using Journal = std::vector<RankFit<double>>;

const PlantedProblem& exact_problem() {
  static const PlantedProblem planted = planted_entries(40, 30, false, 3, 4);
  return planted;
}

const PlantedProblem& noisy_problem() {
  static const PlantedProblem planted = planted_entries(40, 30, false, 2, 5, 1, 0.05);
  return planted;
}

Walk walk_of(const PlantedProblem& planted, RankWalkOptions options = {}) {
  return Walk(*planted.problem.op, planted.problem.b, options);
}

double error_of(const PlantedProblem& planted, const RankFit<double>& fit) {
  const Vector<double> ones = Vector<double>::Ones(fit.Z.rank());
  return planted.relative_error(fit.Z.U(), ones, fit.Z.V());
}

TEST(RankWalk, FindsTheSmallestExactRank) {
  Walk walk = walk_of(exact_problem());
  const auto outcome = walk.run(std::nullopt);
  EXPECT_TRUE(outcome.exact);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_EQ(outcome.fit.Z.rank(), 3);
  EXPECT_LE(error_of(exact_problem(), outcome.fit), 1e-9);
  EXPECT_EQ(outcome.ridge, 0);
}

TEST(RankWalk, ComesDownFromAStartOfTooManyColumns) {
  StackedFactors<double> start(40, 30, false, 6);
  start.Z = random_rows(70, 6, 1);
  const auto outcome = walk_of(exact_problem()).run(start);
  EXPECT_EQ(outcome.fit.Z.rank(), 3);
  EXPECT_LE(error_of(exact_problem(), outcome.fit), 1e-9);
}

TEST(RankWalk, ObjectiveIsThatOfItsFit) {
  const auto outcome = walk_of(noisy_problem()).run(std::nullopt);
  Vector<double> y;
  apply_stack(*noisy_problem().problem.op, outcome.fit.Z, y);
  const double expected = 0.5 * (y - noisy_problem().problem.b).squaredNorm();
  EXPECT_NEAR(outcome.fit.objective, expected, 1e-12 * expected);
}

TEST(RankWalk, ScoresEveryRankItHasVisited) {
  const auto outcome = walk_of(noisy_problem()).run(std::nullopt);
  EXPECT_FALSE(outcome.exact);
  EXPECT_EQ(outcome.fit.Z.rank(), 2);
  ASSERT_GE(outcome.scores.size(), 4u);
  EXPECT_EQ(outcome.scores[0].first, 0);
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rank, score] : outcome.scores) best = std::min(best, score);
  EXPECT_EQ(outcome.scores[2], (std::pair<Index, double>(2, best)));
}

TEST(RankWalk, EstimatesTheNoiseAndShrinks) {
  const auto outcome = walk_of(noisy_problem()).run(std::nullopt);
  const Problem& problem = noisy_problem().problem;
  const auto n = static_cast<double>(problem.b.size());
  const double rms = std::sqrt(problem.b.squaredNorm() / n);
  // n - dof = 540 squares: known to 3 % (one deviation).
  EXPECT_NEAR(outcome.noise_sigma / (0.05 * rms), 1, 0.12);
  EXPECT_GT(outcome.ridge, 0);
}

TEST(RankWalk, DoesNotShrinkUnlessAsked) {
  RankWalkOptions options;
  options.shrinkage = false;
  const auto outcome = walk_of(noisy_problem(), options).run(std::nullopt);
  EXPECT_EQ(outcome.ridge, 0);
  EXPECT_EQ(outcome.fit.Z.rank(), 2);
}

TEST(RankWalk, NeverVisitsMoreThanTheLargestRank) {
  RankWalkOptions options;
  options.max_rank = 2;
  const auto outcome = walk_of(exact_problem(), options).run(std::nullopt);
  EXPECT_EQ(outcome.fit.Z.rank(), 2);
  EXPECT_FALSE(outcome.exact);
  EXPECT_LE(outcome.scores.back().first, 2);
}

TEST(RankWalk, KnownNoiseDecidesWhatIsExact) {
  RankWalkOptions options;
  const Problem& problem = noisy_problem().problem;
  options.rule.noise_sigma =
      0.05 * std::sqrt(problem.b.squaredNorm() / static_cast<double>(problem.b.size()));
  const auto outcome = walk_of(noisy_problem(), options).run(std::nullopt);
  EXPECT_TRUE(outcome.exact);
  EXPECT_EQ(outcome.fit.Z.rank(), 2);
  EXPECT_EQ(outcome.noise_sigma, options.rule.noise_sigma);
}

TEST(RankWalk, HeldOutErrorReplacesTheScore) {
  // An error that likes rank 1 best.
  Walk walk = walk_of(noisy_problem());
  walk.set_held_out([](const StackedFactors<double>& Z) { return std::abs(Z.rank() - 1.0); });
  const auto outcome = walk.run(std::nullopt);
  EXPECT_EQ(outcome.fit.Z.rank(), 1);
  for (const auto& [rank, score] : outcome.scores) EXPECT_EQ(score, std::abs(rank - 1.0));
}

TEST(RankWalk, TellsOfEachFitAsItsJournalGrows) {
  Walk walk = walk_of(exact_problem());
  std::vector<size_t> sizes;
  walk.set_on_fit([&](const Journal& journal) { sizes.push_back(journal.size()); });
  walk.run(std::nullopt);
  ASSERT_EQ(sizes.size(), walk.journal().size());
  for (size_t k = 0; k < sizes.size(); ++k) EXPECT_EQ(sizes[k], k + 1);
}

TEST(RankWalk, CountsTheStepsOfAllItsFits) {
  Walk walk = walk_of(exact_problem());
  Index steps = 0;
  walk.set_monitor([&](const FitStep&) { return ++steps > 0; });
  EXPECT_EQ(walk.run(std::nullopt).iterations, steps);
}

TEST(RankWalk, ReplaysAWholeJournalWithoutFitting) {
  Walk first = walk_of(noisy_problem());
  const auto outcome = first.run(std::nullopt);
  Walk second = walk_of(noisy_problem());
  second.set_journal(first.journal());
  second.set_monitor([](const FitStep&) {
    ADD_FAILURE() << "a fit was computed";
    return true;
  });
  const auto again = second.run(std::nullopt);
  ASSERT_EQ(again.fit.Z.rank(), outcome.fit.Z.rank());
  EXPECT_EQ(again.fit.Z.Z, outcome.fit.Z.Z);
  EXPECT_EQ(again.iterations, outcome.iterations);
  EXPECT_EQ(again.ridge, outcome.ridge);
}

TEST(RankWalk, GoesOnFromAnyPartOfAJournal) {
  Walk first = walk_of(noisy_problem());
  const auto outcome = first.run(std::nullopt);
  for (size_t kept = 0; kept < first.journal().size(); ++kept) {
    Walk second = walk_of(noisy_problem());
    second.set_journal(Journal(first.journal().begin(),
                               first.journal().begin() + static_cast<std::ptrdiff_t>(kept)));
    const auto again = second.run(std::nullopt);
    ASSERT_EQ(again.fit.Z.rank(), outcome.fit.Z.rank());
    EXPECT_EQ(again.fit.Z.Z, outcome.fit.Z.Z) << kept << " fits";
  }
}

TEST(RankWalk, StoppedEarlyGivesTheBestSoFar) {
  Walk walk = walk_of(exact_problem());
  walk.set_monitor([](const FitStep& step) { return step.rank < 2; });
  const auto outcome = walk.run(std::nullopt);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.fit.Z.rank(), 1);
  EXPECT_EQ(walk.journal().size(), 1u);
}

TEST(RankWalk, StoppedBeforeTheFirstFitGivesWhatItHas) {
  Walk walk = walk_of(exact_problem());
  walk.set_monitor([](const FitStep&) { return false; });
  const auto outcome = walk.run(std::nullopt);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.fit.Z.rank(), 1);
  EXPECT_TRUE(walk.journal().empty());
}

TEST(RankWalk, FindsNothingInDataThatNoPositiveMatrixExplains) {
  // <A, X> = -1 for all diagonal entries: X = 0 is the best positive semidefinite matrix.
  const Problem problem = completion({3, 3, true, {0, 1, 2}, {0, 1, 2}, {-1, -1, -1}});
  Walk walk(*problem.op, problem.b, {});
  const auto outcome = walk.run(std::nullopt);
  EXPECT_EQ(outcome.fit.Z.rank(), 0);
  EXPECT_FALSE(outcome.exact);
}

}  // namespace rank_walk_test
}  // namespace udv

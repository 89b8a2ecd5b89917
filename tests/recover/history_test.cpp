// SPDX-License-Identifier: MIT
// Observers and the history that a solve leaves.
#include <gtest/gtest.h>

#include "support/planted_problems.hpp"

namespace udv {
namespace history_test {

using testing::small_symmetric;

RecoverOptions gradient_options(Recording record, Index iterations) {
  RecoverOptions options;
  options.rank_walk = false;
  options.record = record;
  options.max_iterations = iterations;
  return options;
}

std::vector<Index> iterations_of(const Recovery& found) {
  std::vector<Index> iterations;
  for (const IterationRecord& record : found.history) iterations.push_back(record.iteration);
  return iterations;
}

void expect_increasing(const std::vector<Index>& iterations) {
  for (size_t k = 1; k < iterations.size(); ++k) EXPECT_LT(iterations[k - 1], iterations[k]);
}

TEST(History, KeepsEveryIterationWhereAsked) {
  const auto found = recover(small_symmetric().problem, gradient_options(Recording::kEvery, 150));
  const auto iterations = iterations_of(found);
  ASSERT_EQ(iterations.size(), 150u);
  EXPECT_EQ(iterations.front(), 1);
  EXPECT_EQ(iterations.back(), 150);
  expect_increasing(iterations);
}

TEST(History, IsSpacedLogarithmically) {
  const auto found = recover(small_symmetric().problem, gradient_options(Recording::kLog, 5000));
  const auto iterations = iterations_of(found);
  expect_increasing(iterations);
  EXPECT_EQ(iterations[99], 100);
  EXPECT_EQ(iterations.back(), 5000);
  // 3 % apart after the first hundred, and never more.
  for (size_t k = 100; k + 1 < iterations.size(); ++k)
    EXPECT_LE(iterations[k], std::max(iterations[k - 1] + 1, iterations[k - 1] * 103 / 100));
  EXPECT_LT(iterations.size(), 300u);
}

TEST(History, IsEmptyWhereAsked) {
  RecoverOptions options = gradient_options(Recording::kNone, 100);
  EXPECT_TRUE(recover(small_symmetric().problem, options).history.empty());
  options.rank_walk = true;
  EXPECT_TRUE(recover(small_symmetric().problem, options).history.empty());
}

TEST(History, DoesNotChangeTheAnswer) {
  const auto solve = [](Recording record) {
    return recover(small_symmetric().problem, gradient_options(record, 400));
  };
  testing::expect_same_bits(solve(Recording::kNone), solve(Recording::kEvery));
  testing::expect_same_bits(solve(Recording::kLog), solve(Recording::kEvery));
}

TEST(History, ThatIsSparseHoldsTheSameRecords) {
  const auto every = recover(small_symmetric().problem, gradient_options(Recording::kEvery, 777));
  const auto sparse = recover(small_symmetric().problem, gradient_options(Recording::kLog, 777));
  for (const IterationRecord& record : sparse.history) {
    const IterationRecord& same = every.history[static_cast<size_t>(record.iteration) - 1];
    EXPECT_EQ(record.objective, same.objective) << record.iteration;
    EXPECT_EQ(record.norm_u, same.norm_u) << record.iteration;
    EXPECT_EQ(record.max_d, same.max_d) << record.iteration;
    EXPECT_EQ(record.step, same.step) << record.iteration;
    EXPECT_EQ(record.rank, same.rank) << record.iteration;
  }
}

TEST(History, StartsWithTheObjectiveOfTheStart) {
  RecoverOptions options = gradient_options(Recording::kEvery, 1);
  options.init_norm = 1e-8;
  const auto planted = small_symmetric();
  const auto found = recover(planted.problem, options);
  // X_0 is 1e-16 of X: what is seen is b.
  EXPECT_NEAR(found.history[0].objective / (0.5 * planted.problem.b.squaredNorm()), 1, 1e-12);
}

TEST(History, OfAPolishHasAllItsSteps) {
  const auto found = recover(small_symmetric().problem);
  const auto iterations = iterations_of(found);
  expect_increasing(iterations);
  EXPECT_EQ(iterations.front(), 1);
  EXPECT_EQ(static_cast<Index>(iterations.size()), found.iterations);
}

TEST(History, TellsTimeThatDoesNotRunBackwards) {
  const auto found = recover(small_symmetric().problem);
  double last = 0;
  for (const IterationRecord& record : found.history) {
    EXPECT_GE(record.seconds, last);
    last = record.seconds;
  }
  EXPECT_GE(found.seconds, last);
}

TEST(History, OfColumnsFollowsThemByTheirFirstNumber) {
  RecoverOptions options = gradient_options(Recording::kLog, 3000);
  const auto found = recover(small_symmetric().problem, options);
  ASSERT_EQ(found.columns.iteration.size(), found.columns.norm_u.size());
  ASSERT_EQ(found.columns.iteration.size(), found.columns.d.size());
  for (const auto& norms : found.columns.norm_u) ASSERT_EQ(norms.size(), 30);
  // Columns that left are zero; those that stayed are those of the answer.
  const Vector<double> late = found.columns.norm_u.back();
  EXPECT_EQ((late.array() > 0).count(), found.U.cols());
  EXPECT_LT(found.U.cols(), 30);
}

TEST(Observer, SeesWhatTheHistoryKeeps) {
  std::vector<IterationRecord> seen;
  RecoverHooks hooks;
  hooks.observer = [&](const IterationRecord& record) {
    seen.push_back(record);
    return Verdict::kContinue;
  };
  const auto options = gradient_options(Recording::kEvery, 50);
  const auto found = recover(small_symmetric().problem, options, hooks);
  ASSERT_EQ(seen.size(), found.history.size());
  for (size_t k = 0; k < seen.size(); ++k) {
    EXPECT_EQ(seen[k].iteration, found.history[k].iteration);
    EXPECT_EQ(seen[k].objective, found.history[k].objective);
  }
}

TEST(Observer, IsCalledEvenWithoutAHistory) {
  int calls = 0;
  RecoverHooks hooks;
  hooks.observer = [&](const IterationRecord&) {
    ++calls;
    return Verdict::kContinue;
  };
  recover(small_symmetric().problem, gradient_options(Recording::kNone, 100), hooks);
  EXPECT_GE(calls, 1);
}

TEST(Combine, CallsAllObserversAndTakesTheFirstThatStops) {
  int calls = 0;
  const auto saying = [&](Verdict verdict) {
    return [&calls, verdict](const IterationRecord&) {
      ++calls;
      return verdict;
    };
  };
  const Observer all = combine(
      {saying(Verdict::kContinue), saying(Verdict::kTimeLimit), saying(Verdict::kInterrupt)});
  EXPECT_EQ(all({}), Verdict::kTimeLimit);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(combine({})({}), Verdict::kContinue);
}

TEST(TimeLimit, StopsAfterItsSeconds) {
  const Observer limit = time_limit(2);
  IterationRecord record;
  record.seconds = 1.9;
  EXPECT_EQ(limit(record), Verdict::kContinue);
  record.seconds = 2.1;
  EXPECT_EQ(limit(record), Verdict::kTimeLimit);
}

Recovery exact_answer() {
  Recovery found;
  found.rank = 3;
  found.relative_residual = 1.23e-12;
  found.exact = found.converged = found.by_rank_walk = true;
  found.certificate.verdict = Optimality::kGlobal;
  found.determinacy.tolerance = 1e-6;
  found.determinacy.rank_confirmed = true;
  found.determinacy.determined_share = 1;
  found.determinacy.unique = true;
  return found;
}

TEST(Recovery, SummarisesItselfInOneLine) {
  EXPECT_EQ(exact_answer().summary(), "rank 3, relative residual 1.2e-12, certified");
}

TEST(Recovery, SaysWhatWasLeftOut) {
  Recovery found = exact_answer();
  found.outliers = {{1, 2}, {3, 4}};
  EXPECT_EQ(
      found.verdict(),
      "certified: the only rank-3 matrix that fits the data; 2 gross errors are not left out");
  found.outliers_removed = true;
  EXPECT_EQ(found.verdict(),
            "certified: the only rank-3 matrix that fits the data; 2 gross errors are left out");
  found.outliers.pop_back();
  EXPECT_EQ(found.summary(),
            "rank 3, relative residual 1.2e-12, certified; 1 gross error is left out");
}

TEST(Recovery, DoesNotCallTooFewDataNoise) {
  Recovery found = exact_answer();
  found.rank = 0;
  found.rows = found.cols = 10;
  found.measurements = 19;
  EXPECT_EQ(found.verdict(),
            "too few measurements: even rank 1 has as many parameters, and nothing is determined");
  found.measurements = 20;
  EXPECT_EQ(found.verdict(), "nothing but noise: no rank explains the data better than none");
}

TEST(Recovery, IsCertifiedOnlyWhereItIsOptimalAndTheOnlyOne) {
  EXPECT_EQ(exact_answer().verdict(), "certified: the only rank-3 matrix that fits the data");
  Recovery found = exact_answer();
  found.determinacy.unique = false;
  found.determinacy.free_directions = 3;
  found.determinacy.determined_share = 0.52;
  EXPECT_EQ(found.verdict(),
            "fits the data exactly, but 3 directions are free: 48 % of the entries are not "
            "determined");
  found = exact_answer();
  found.determinacy.unique.reset();
  EXPECT_EQ(found.verdict(),
            "fits the data exactly; whether another rank-3 matrix does is not known");
  found.determinacy.rank_confirmed = false;
  EXPECT_EQ(found.verdict(),
            "fits the data exactly, but so would any other values: rank 3 is not confirmed");
  found = exact_answer();
  found.determinacy.unique = false;
  found.determinacy.another_fits = true;
  found.determinacy.determined_share = 0.995;
  EXPECT_EQ(found.verdict(),
            "fits the data exactly, but so does another rank-3 matrix: 0.5 % of the entries are "
            "not determined");
  found = exact_answer();
  found.determinacy.unique.reset();
  found.determinacy.decided = false;
  EXPECT_EQ(found.verdict(),
            "fits the data exactly, but whether another rank-3 matrix fits as well was not "
            "decided");
}

TEST(Recovery, SaysWhyItDidNotConverge) {
  Recovery found = exact_answer();
  found.converged = found.exact = false;
  found.stop_reason = StopReason::kTimeLimit;
  EXPECT_EQ(found.verdict(), "not converged, stopped by the time limit");
  found.stop_reason = StopReason::kDiverged;
  EXPECT_EQ(found.verdict(), "diverged: the factors are of no use");
}

}  // namespace history_test
}  // namespace udv

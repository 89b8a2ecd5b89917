// SPDX-License-Identifier: MIT
#include "recover/solver/robust.hpp"

#include <gtest/gtest.h>

#include "support/planted_problems.hpp"

namespace udv {
namespace robust_test {

using testing::completed;

// Entries of a planted matrix, a share of them replaced by Gaussian numbers ten times as large.
struct Contaminated {
  Planted planted;
  std::vector<Index> wrong;

  Contaminated(bool symmetric, double share, double noise, std::uint64_t seed)
      : planted(completed(60, symmetric ? 60 : 50, symmetric, 2, 6, 1, noise, seed)) {
    std::vector<double>& value = planted.entries.value;
    Random random(seed, testing::kTestStream);
    const std::vector<Index> order = random.permutation(planted.entries.size());
    wrong.assign(order.begin(),
                 order.begin() + std::lround(share * static_cast<double>(value.size())));
    std::sort(wrong.begin(), wrong.end());
    for (const Index t : wrong) value[static_cast<size_t>(t)] = 10 * M_SQRT2 * random.normal();
  }

  EntriesOperator<double> op() const { return EntriesOperator<double>(planted.entries); }
  Vector<double> b() const {
    return Eigen::Map<const Vector<double>>(planted.entries.value.data(), planted.entries.size());
  }
  double error(const StackedFactors<double>& Z) const {
    return planted.relative_error(Z.U(), Vector<double>::Ones(Z.rank()), Z.V());
  }
};

class GrossErrors : public ::testing::TestWithParam<bool> {};

TEST_P(GrossErrors, AreFoundAndTheRestIsExact) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Contaminated data(GetParam(), 0.1, 0, seed);
    const Outliers<double> found = find_outliers<double>(data.op(), data.b(), {});
    EXPECT_EQ(found.entries, data.wrong) << seed;
    EXPECT_EQ(found.fit.rank(), 2) << seed;
    EXPECT_LT(data.error(found.fit), 1e-9) << seed;
  }
}

TEST_P(GrossErrors, DoNotHideTheSizeOfTheNoise) {
  const Contaminated data(GetParam(), 0.05, 0.01, 4);
  const Outliers<double> found = find_outliers<double>(data.op(), data.b(), {});
  EXPECT_EQ(found.fit.rank(), 2);
  // The entries have a standard deviation of sqrt(2); some 500 degrees of freedom give 3 %.
  EXPECT_NEAR(found.sigma, 0.01 * M_SQRT2, 0.15 * 0.01 * M_SQRT2);
}

TEST_P(GrossErrors, AreNotSeenInCleanData) {
  for (const double noise : {0.0, 0.01, 0.3}) {
    const Contaminated data(GetParam(), 0, noise, 5);
    EXPECT_FALSE(find_outliers<double>(data.op(), data.b(), {}).any()) << noise;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GrossErrors, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "symmetric" : "rectangular"; });

TEST(FindOutliers, GivesTheSameBitsForAnyNumberOfThreads) {
  const Contaminated data(false, 0.1, 0.01, 6);
  const auto with_threads = [&](int threads) {
    const testing::ThreadCount guard(threads);
    return find_outliers<double>(data.op(), data.b(), {});
  };
  const Outliers<double> one = with_threads(1), two = with_threads(2);
  EXPECT_EQ(one.entries, two.entries);
  EXPECT_EQ(one.fit.Z, two.fit.Z);
  EXPECT_EQ(one.sigma, two.sigma);
}

TEST(FindOutliers, LeavesAJournalThatSparesTheWalkOverTheRest) {
  const Contaminated data(false, 0.1, 0.01, 7);
  const Outliers<double> found = find_outliers<double>(data.op(), data.b(), {});
  const BasicProblem<double> rest = without<double>(data.op(), data.b(), found);
  RankWalkOptions options;
  options.max_rank = found.max_rank;
  options.shrinkage = false;
  RankWalk<double> walk(*rest.op, rest.b, options);
  walk.set_journal(found.journal);
  Index steps = 0;
  walk.set_monitor([&](const FitStep&) {
    ++steps;
    return true;
  });
  EXPECT_EQ(walk.run(found.start).fit.Z.Z, found.fit.Z);
  EXPECT_EQ(steps, 0);
}

TEST(FindOutliers, IgnoresEntriesWithoutWeight) {
  Contaminated data(false, 0.1, 0, 8);
  std::vector<double>& weight = data.planted.entries.weight;
  weight.assign(data.planted.entries.value.size(), 1);
  for (size_t t = 0; t < data.wrong.size() / 2; ++t) weight[static_cast<size_t>(data.wrong[t])] = 0;
  const EntriesOperator<double> op = data.op();
  const Vector<double> b = data.b().cwiseProduct(op.root_weights());
  const std::vector<Index> seen(data.wrong.begin() + static_cast<Index>(data.wrong.size() / 2),
                                data.wrong.end());
  EXPECT_EQ(find_outliers<double>(op, b, {}).entries, seen);
}

// Noise of a twentieth of the entries, times a factor for each row or times the entry itself.
Contaminated with_uneven_noise(NoiseKind kind) {
  Contaminated data(false, 0, 0, 10);
  Entries& entries = data.planted.entries;
  Random random(10, testing::kTestStream + 1);
  Vector<double> of_row(entries.rows);
  for (double& factor : of_row) factor = std::exp(0.7 * random.normal());
  for (size_t t = 0; t < entries.value.size(); ++t) {
    double& value = entries.value[t];
    value += 0.05 * random.normal() * (kind == NoiseKind::kByRow ? of_row(entries.row[t]) : value);
  }
  return data;
}

// A dead channel: its zeros are fitted exactly and say nothing of the noise.
TEST(FindOutliers, IgnoresLinesOfZeros) {
  Contaminated data(false, 0.05, 0.01, 7);
  Entries& entries = data.planted.entries;
  std::vector<Index> wrong;
  for (const Index t : data.wrong)
    if (entries.row[static_cast<size_t>(t)] % 2 == 0) wrong.push_back(t);
  for (size_t t = 0; t < entries.value.size(); ++t)
    if (entries.row[t] % 2 == 1) entries.value[t] = 0;
  const Outliers<double> found = find_outliers<double>(data.op(), data.b(), {});
  EXPECT_EQ(found.fit.rank(), 2);
  EXPECT_LT(std::abs(static_cast<double>(found.entries.size()) - static_cast<double>(wrong.size())),
            5);
  for (const Index t : found.entries) EXPECT_EQ(entries.row[static_cast<size_t>(t)] % 2, 0);
}

TEST(FindOutliers, SeesNoiseOfDifferentSize) {
  for (const NoiseKind kind : {NoiseKind::kByRow, NoiseKind::kBySignal}) {
    const Contaminated data = with_uneven_noise(kind);
    const Outliers<double> found = find_outliers<double>(data.op(), data.b(), {});
    EXPECT_EQ(found.noise.kind, kind);
    EXPECT_FALSE(found.any());
    EXPECT_TRUE(found.changes_problem());
    const BasicProblem<double> rest = without<double>(data.op(), data.b(), found);
    const auto outcome = RankWalk<double>(*rest.op, rest.b, {}).run(found.start);
    EXPECT_EQ(outcome.fit.Z.rank(), 2);
  }
}

TEST(GrossErrorsLikely, FollowsTheLargestValues) {
  for (const bool symmetric : {false, true}) {
    const Contaminated clean(symmetric, 0, 0.3, 11), wrong(symmetric, 0.02, 0, 11);
    EXPECT_FALSE(gross_errors_likely<double>(clean.op(), clean.b()));
    EXPECT_TRUE(gross_errors_likely<double>(wrong.op(), wrong.b()));
  }
}

TEST(FindOutliers, StopsWhereTheMonitorSaysSo) {
  const Contaminated data(false, 0.1, 0, 9);
  const auto found =
      find_outliers<double>(data.op(), data.b(), {}, [](const FitStep&) { return false; });
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.any());
}

}  // namespace robust_test
}  // namespace udv

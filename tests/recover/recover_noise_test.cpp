// SPDX-License-Identifier: MIT
// recover() where no rank fits exactly, and where the data leave something open.
#include <gtest/gtest.h>

#include <cmath>

#include "recover/split.hpp"
#include "support/planted_problems.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {
namespace recover_noise_test {

using testing::planted_entries;
using testing::PlantedProblem;
using testing::random_vector;
using testing::residual_of;
using Indices = std::vector<Index>;

double root_mean_square(const Vector<double>& b) {
  return std::sqrt(b.squaredNorm() / static_cast<double>(b.size()));
}

/// The error of the least-squares fit that is told the rank and starts at the truth.
double oracle_error(const PlantedProblem& planted) {
  StackedFactors<double> Z = planted.near(0);
  FitOptions options;
  options.small_gain = 1e-10;
  fit_factors(*planted.problem.op, planted.problem.b, Z, options);
  return planted.relative_error(Z.U(), Vector<double>::Ones(Z.rank()), Z.V());
}

class Noisy : public ::testing::TestWithParam<bool> {
 protected:
  PlantedProblem planted(double noise, std::uint64_t seed) const {
    return planted_entries(60, GetParam() ? 60 : 50, GetParam(), 3, 4, 1, noise, seed);
  }
};

TEST_P(Noisy, OnePercentLeavesTheTrueRankAndTheErrorOfAnOracle) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const PlantedProblem problem = planted(0.01, seed);
    const Recovery found = recover(problem.problem);
    EXPECT_EQ(found.rank, 3) << "seed " << seed;
    EXPECT_LE(problem.relative_error(found), 1.1 * oracle_error(problem)) << "seed " << seed;
  }
}

TEST_P(Noisy, SinglePrecisionGivesTheSameAnswerButForRounding) {
  const PlantedProblem problem = planted(0.05, 2);
  RecoverOptions options;
  const Recovery usual = recover(problem.problem, options);
  options.float32 = true;
  const Recovery found = recover(problem.problem, options);
  EXPECT_EQ(found.rank, usual.rank);
  EXPECT_NEAR(found.noise_sigma, usual.noise_sigma, 1e-4 * usual.noise_sigma);
  for (Index i = 0; i < 10; ++i)
    EXPECT_NEAR(found.predict(i, i), usual.predict(i, i), 1e-3 * usual.d(0)) << i;
}

TEST_P(Noisy, NoiseIsEstimated) {
  const PlantedProblem problem = planted(0.05, 1);
  const Recovery found = recover(problem.problem);
  const double sigma = 0.05 * root_mean_square(problem.problem.b);
  // Some 500 squares are left after the fit: one deviation is 3 %.
  EXPECT_NEAR(found.noise_sigma / sigma, 1, 0.12);
  EXPECT_TRUE(found.ridge > 0 || found.posterior);
}

TEST_P(Noisy, FitIsCertifiedToBeStationaryAtLeast) {
  const Recovery found = recover(planted(0.05, 1).problem);
  EXPECT_NE(found.certificate.verdict, Optimality::kNotConverged);
  EXPECT_EQ(found.certificate.ridge, found.ridge);
  EXPECT_TRUE(found.converged);
}

TEST_P(Noisy, LeastSquaresFitIsStationaryButNotGlobal) {
  // Without a ridge, noise leaves directions along which a higher rank would fit better.
  RecoverOptions options;
  options.shrinkage = false;
  const Recovery found = recover(planted(0.05, 1).problem, options);
  EXPECT_EQ(found.certificate.verdict, Optimality::kStationary);
  EXPECT_EQ(found.ridge, 0);
}

TEST_P(Noisy, KnownNoiseChoosesTheRank) {
  const PlantedProblem problem = planted(0.1, 2);
  RecoverOptions options;
  options.noise_sigma = 0.1 * root_mean_square(problem.problem.b);
  const Recovery found = recover(problem.problem, options);
  EXPECT_EQ(found.rank, 3);
  EXPECT_NEAR(found.noise_sigma, options.noise_sigma, 1e-12 * options.noise_sigma);
}

TEST_P(Noisy, NoiseAsLargeAsTheDataLeavesNothing) {
  const PlantedProblem problem = planted(0.1, 2);
  RecoverOptions options;
  options.noise_sigma = 2 * root_mean_square(problem.problem.b);
  const Recovery found = recover(problem.problem, options);
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.relative_residual, 1);
}

TEST_P(Noisy, HeldOutDataChooseTheRank) {
  const PlantedProblem problem = planted(0.1, 3);
  RecoverOptions options;
  options.holdout = 0.1;
  options.seed = 5;
  const Recovery found = recover(problem.problem, options);
  const auto [used, held] = split(problem.problem, 0.1, 5);
  EXPECT_EQ(found.rank, 3);
  ASSERT_TRUE(found.holdout_rmse.has_value());
  // The answer has seen the held-out data, its error there was measured before.
  const Recovery before = recover(used);
  EXPECT_NEAR(*found.holdout_rmse, root_mean_square(residual_of(held, before)),
              1e-3 * root_mean_square(problem.problem.b));
  EXPECT_LT(root_mean_square(residual_of(held, found)), *found.holdout_rmse);
  const Problem& all = problem.problem;
  EXPECT_EQ(found.measurements, all.b.size());
  EXPECT_NEAR(found.relative_residual, residual_of(all, found).norm() / all.b.norm(), 1e-12);
}

TEST_P(Noisy, PureNoiseHasRankZero) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    PlantedProblem problem = planted(0, seed);
    problem.problem.b = random_vector(problem.problem.b.size(), 50 + seed);
    const Recovery found = recover(problem.problem);
    EXPECT_EQ(found.rank, 0) << "seed " << seed;
    EXPECT_EQ(found.U.cols(), 0);
    EXPECT_EQ(found.U.rows(), 60);
    EXPECT_EQ(found.predict(1, 2), 0);
    EXPECT_NEAR(found.relative_residual, 1, 1e-14);
    EXPECT_NEAR(found.noise_sigma, root_mean_square(problem.problem.b), 1e-12);
  }
}

TEST_P(Noisy, LargestRankIsRespected) {
  for (const bool polish : {true, false}) {
    RecoverOptions options;
    options.max_rank = 2;
    options.rank_walk = polish;
    options.max_iterations = polish ? 0 : 500;
    const Recovery found = recover(planted(0, 1).problem, options);
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.U.cols(), 2);
  }
}

TEST_P(Noisy, LargestRankBeyondTheMatrixIsNoLimit) {
  RecoverOptions options;
  options.max_rank = 1000;
  EXPECT_EQ(recover(planted(0, 1).problem, options).rank, 3);
}

TEST_P(Noisy, ScoresAreListedByRankWithTheBestAtTheAnswer) {
  const Recovery found = recover(planted(0.05, 1).problem);
  auto best = found.scores.front();
  for (const auto& entry : found.scores) best = entry.second < best.second ? entry : best;
  EXPECT_EQ(best.first, 3);
  EXPECT_TRUE(std::is_sorted(found.scores.begin(), found.scores.end()));
}

INSTANTIATE_TEST_SUITE_P(Both, Noisy, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "symmetric" : "rectangular"; });

TEST(Recover, RefusesToHoldOutWhatAnOperatorCannotLeaveOut) {
  RecoverOptions options;
  options.holdout = 0.1;
  const auto planted = testing::planted_by(testing::make_user(8, 6, false), 1);
  EXPECT_EQ(testing::error_of([&] { recover(planted.problem, options); }),
            "operator 'user' cannot hold out measurements");
}

/// Four fifths of the entries of a 30 x 25 matrix of rank 2, but only those that `keep` wants.
template <typename Keep>
Recovery recover_some(const Keep& keep) {
  PlantedOptions options{30, 25, false, 2, 750, 1, 0, 4};
  const Entries all = planted_completion(options).entries;
  Entries kept{30, 25, false, {}, {}, {}};
  Random random(1, testing::kTestStream);
  for (size_t t = 0; t < all.value.size(); ++t) {
    if (random.uniform() > 0.8 || !keep(all.row[t], all.col[t])) continue;
    kept.row.push_back(all.row[t]);
    kept.col.push_back(all.col[t]);
    kept.value.push_back(all.value[t]);
  }
  return recover(completion(kept));
}

TEST(Recover, NamesLinesThatTheDataDoNotReach) {
  const Recovery found = recover_some([](int i, int j) { return i != 4 && j != 7 && j != 9; });
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.undetermined.empty_rows, Indices{4});
  EXPECT_EQ(found.undetermined.empty_cols, (Indices{7, 9}));
  EXPECT_TRUE(found.undetermined.rows.empty() && found.undetermined.cols.empty());
}

TEST(Recover, NamesLinesWithTooFewEntriesForTheRank) {
  int in_row_4 = 0;
  const Recovery found = recover_some([&](int i, int) { return i != 4 || ++in_row_4 <= 1; });
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.undetermined.rows, Indices{4});
  EXPECT_TRUE(found.undetermined.empty_rows.empty() && found.undetermined.blocks.empty());
}

TEST(Recover, NamesBlocksThatNothingLinks) {
  const Recovery found = recover_some([](int i, int j) { return (i < 10) == (j < 12); });
  EXPECT_EQ(found.rank, 2);
  ASSERT_EQ(found.undetermined.blocks.size(), 1u);
  EXPECT_EQ(found.undetermined.blocks[0].first, (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(found.undetermined.blocks[0].second, (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

// Dead channels: their zeros say nothing of the rank and of the noise.
TEST(Recover, LinesOfZerosSayNothingOfRankAndNoise) {
  constexpr double kNoise = 0.05;
  const Planted planted = testing::completed(80, 60, false, 3, 5, 1, kNoise, 2);
  const double all = recover(completion(planted.entries)).noise_sigma;
  for (const int every : {4, 2}) {
    Entries entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t)
      if (entries.row[t] % every == 0) entries.value[t] = 0;
    const Recovery found = recover(completion(entries));
    EXPECT_EQ(found.rank, 3);
    EXPECT_EQ(found.noise_by, NoiseKind::kEqual);
    EXPECT_NEAR(found.noise_sigma / all, 1, 0.25);
    EXPECT_TRUE(found.outliers.empty());
  }
}

}  // namespace recover_noise_test
}  // namespace udv

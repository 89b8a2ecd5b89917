// SPDX-License-Identifier: MIT
// What must not change an answer: units, threads, a second run.
#include <gtest/gtest.h>

#include <cmath>

#include "support/planted_problems.hpp"

namespace udv {
namespace recover_invariance_test {

using testing::expect_same_bits;
using testing::planted_entries;
using testing::PlantedProblem;
using testing::ThreadCount;

RecoverOptions gradient_options() {
  RecoverOptions options;
  options.rank_walk = false;
  options.max_iterations = 300;
  return options;
}

Problem scaled(Problem problem, double factor) {
  problem.b *= factor;
  return problem;
}

class Units : public ::testing::TestWithParam<std::string> {
 protected:
  const bool symmetric = method_named(GetParam()).symmetric;
  const PlantedProblem planted =
      symmetric ? testing::small_symmetric() : testing::small_rectangular();
  RecoverOptions options;
  void SetUp() override { options.method = GetParam(); }
};

TEST_P(Units, ChangeValuesButNotTheRank) {
  const Recovery plain = recover(planted.problem, options);
  for (const double factor : {1e150, 1e-150, 3.0}) {
    const Recovery found = recover(scaled(planted.problem, factor), options);
    EXPECT_EQ(found.rank, plain.rank) << factor;
    EXPECT_NEAR((found.spectrum / factor - plain.spectrum).norm(), 0, 1e-9 * plain.spectrum(0));
    EXPECT_NEAR(found.predict(1, 2) / factor, plain.predict(1, 2), 1e-9 * plain.spectrum(0));
  }
}

TEST_P(Units, ThatArePowersOfTwoChangeNoBit) {
  const Recovery plain = recover(planted.problem, options);
  for (const int power : {400, -400, 1}) {
    const double factor = std::ldexp(1, 2 * power);
    const double root = method_named(GetParam()).diagonal ? 1 : std::ldexp(1, power);
    const Recovery found = recover(scaled(planted.problem, factor), options);
    EXPECT_EQ(found.U / root, plain.U) << power;
    EXPECT_EQ(found.d, method_named(GetParam()).diagonal ? factor * plain.d : plain.d) << power;
    EXPECT_EQ(found.iterations, plain.iterations) << power;
  }
}

TEST_P(Units, DoNotMatterToGradientRuns) {
  RecoverOptions plain_options = gradient_options();
  plain_options.method = GetParam();
  const Recovery plain = recover(planted.problem, plain_options);
  const Recovery found = recover(scaled(planted.problem, std::ldexp(1, 400)), plain_options);
  EXPECT_EQ(found.relative_residual, plain.relative_residual);
  EXPECT_EQ(found.rank, plain.rank);
}

INSTANTIATE_TEST_SUITE_P(Of, Units, ::testing::Values("bm", "udu", "uv", "udv"),
                         [](const auto& info) { return info.param; });

TEST(ScaleRule, IsReportedAndReachesTheSolver) {
  const Problem problem = testing::small_symmetric().problem;
  const double norm = problem.b.norm();
  RecoverOptions options = gradient_options();
  const auto scale_with = [&](ScaleRule rule) {
    options.scale_rule = rule;
    options.scale_value = 0.25;
    return recover(problem, options).scale;
  };
  EXPECT_NEAR(scale_with(ScaleRule::kAuto) * norm, 5 * std::sqrt(problem.op->mean_gain()), 1e-12);
  EXPECT_NEAR(scale_with(ScaleRule::kUnit) * norm, 1, 1e-12);
  EXPECT_EQ(scale_with(ScaleRule::kNone), 1);
  EXPECT_EQ(scale_with(ScaleRule::kValue), 0.25);
}

TEST(ScaleRule, DoesNotChangeAnExactAnswer) {
  const PlantedProblem planted = testing::small_rectangular();
  for (const ScaleRule rule : {ScaleRule::kUnit, ScaleRule::kNone, ScaleRule::kValue}) {
    RecoverOptions options;
    options.scale_rule = rule;
    options.scale_value = 1e5;
    const Recovery found = recover(planted.problem, options);
    EXPECT_EQ(found.rank, 2);
    EXPECT_LE(planted.relative_error(found), 1e-9);
  }
}

TEST(ScaleRule, RefusesScalesThatOverflow) {
  RecoverOptions options;
  options.scale_rule = ScaleRule::kValue;
  options.scale_value = 1e308;
  EXPECT_EQ(testing::error_of([&] { recover(testing::small_symmetric().problem, options); }),
            "scale 1e+308 makes the measurements overflow");
}

TEST(ScaleRule, FindsTheRankOrRefusesWhereSquaresLeaveTheRange) {
  RecoverOptions options;
  options.scale_rule = ScaleRule::kNone;
  const auto rank_unless_refused = [&](const Problem& problem) -> Index {
    try {
      return recover(problem, options).rank;
    } catch (const InvalidArgument&) {
      return 3;
    }
  };
  for (const double factor : {1e200, 1e-200})
    EXPECT_EQ(rank_unless_refused(scaled(testing::small_symmetric().problem, factor)), 3) << factor;
}

struct SameBitsCase {
  std::string name;
  PlantedProblem (*make)();
  RecoverOptions options;
};

void PrintTo(const SameBitsCase& item, std::ostream* out) {
  *out << item.name;
}

class SameBits : public ::testing::TestWithParam<SameBitsCase> {
 protected:
  Recovery solve(int threads) const {
    const ThreadCount guard(threads);
    return recover(planted.problem, GetParam().options);
  }
  const PlantedProblem planted = GetParam().make();
};

TEST_P(SameBits, ForAnyNumberOfThreads) {
  const Recovery alone = solve(1);
  expect_same_bits(solve(2), alone);
  expect_same_bits(solve(5), alone);
}

TEST_P(SameBits, ForTheSameSeed) {
  expect_same_bits(solve(0), solve(0));
}

PlantedProblem large_symmetric() {
  return planted_entries(300, 300, true, 6, 4);
}
PlantedProblem large_rectangular() {
  return planted_entries(300, 200, false, 5, 4, 1, 0.01);
}
PlantedProblem dense_sensing() {
  return testing::planted_sensing(30, 25, false, 2, 300);
}
PlantedProblem quadratic_sensing() {
  return testing::planted_quadratic(40, 2, 400);
}

RecoverOptions wide_gradient() {
  RecoverOptions options = gradient_options();
  options.max_iterations = 20;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Of, SameBits,
                         ::testing::Values(SameBitsCase{"symmetric", large_symmetric, {}},
                                           SameBitsCase{"rectangular_noisy", large_rectangular, {}},
                                           SameBitsCase{"dense", dense_sensing, {}},
                                           SameBitsCase{"rank_one", quadratic_sensing, {}},
                                           SameBitsCase{"gradient", large_symmetric,
                                                        wide_gradient()}),
                         [](const auto& info) { return info.param.name; });

TEST(Seed, ChangesTheStartOfAGradientRun) {
  RecoverOptions options = gradient_options();
  const Problem problem = testing::small_symmetric().problem;
  const Recovery one = recover(problem, options);
  options.seed = 1;
  EXPECT_NE(recover(problem, options).objective, one.objective);
}

}  // namespace recover_invariance_test
}  // namespace udv

// SPDX-License-Identifier: MIT
// Why a solve ends, and what it says then.
#include <gtest/gtest.h>

#include "support/planted_problems.hpp"

namespace udv {
namespace stop_reason_test {

using testing::small_rectangular;
using testing::small_symmetric;

RecoverOptions gradient_options(Index iterations = 200) {
  RecoverOptions options;
  options.rank_walk = false;
  options.max_iterations = iterations;
  return options;
}

RecoverHooks observed_by(Observer observer) {
  RecoverHooks hooks;
  hooks.observer = std::move(observer);
  return hooks;
}

Observer always(Verdict verdict) {
  return [verdict](const IterationRecord&) { return verdict; };
}

TEST(StopReason, OfADefaultRunIsConverged) {
  const Recovery found = recover(small_symmetric().problem);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_TRUE(found.converged);
}

TEST(StopReason, OfAGradientRunIsItsIterationLimit) {
  const Recovery found = recover(small_symmetric().problem, gradient_options(50));
  EXPECT_EQ(found.stop_reason, StopReason::kIterationLimit);
  EXPECT_EQ(found.iterations, 50);
  EXPECT_EQ(found.history.back().iteration, 50);
  EXPECT_FALSE(found.converged);
}

TEST(StopReason, OfAGradientRunIsConvergedWhereAToleranceIsMet) {
  RecoverOptions options = gradient_options(100'000);
  options.tolerance = 1e-4;
  const Recovery found = recover(small_symmetric().problem, options);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_TRUE(found.converged);
  EXPECT_LE(found.relative_residual, 1.1e-4);
  EXPECT_LT(found.iterations, 100'000);
}

TEST(StopReason, OfAPolishMayBeItsIterationLimit) {
  for (const Index limit : {1, 2, 5}) {
    RecoverOptions options;
    options.max_iterations = limit;
    Index steps = 0;
    const auto hooks = observed_by([&](const IterationRecord&) {
      ++steps;
      return Verdict::kContinue;
    });
    const Recovery found = recover(small_symmetric().problem, options, hooks);
    EXPECT_EQ(found.stop_reason, StopReason::kIterationLimit);
    EXPECT_EQ(steps, limit) << "steps observed";
  }
}

TEST(StopReason, IterationsAreThoseOfTheHistory) {
  RecoverOptions options;
  options.max_iterations = 5;
  const Recovery found = recover(small_symmetric().problem, options);
  EXPECT_EQ(found.iterations, found.history.back().iteration);
}

TEST(StopReason, EnoughIterationsAreNoLimit) {
  RecoverOptions options;
  options.max_iterations = 10'000;
  const Recovery found = recover(small_symmetric().problem, options);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  testing::expect_same_bits(found, recover(small_symmetric().problem));
}

class Stopped : public ::testing::TestWithParam<bool> {
 protected:
  RecoverOptions options() const {
    RecoverOptions chosen = gradient_options();
    chosen.rank_walk = GetParam();
    chosen.max_iterations = GetParam() ? 0 : 200;
    return chosen;
  }
};

TEST_P(Stopped, MayBeATimeLimit) {
  const Recovery found = recover(small_symmetric().problem, options(), observed_by(time_limit(0)));
  EXPECT_EQ(found.stop_reason, StopReason::kTimeLimit);
  EXPECT_EQ(found.history.size(), 1u);
}

TEST_P(Stopped, MayBeAnInterrupt) {
  const Recovery found =
      recover(small_symmetric().problem, options(), observed_by(always(Verdict::kInterrupt)));
  EXPECT_EQ(found.stop_reason, StopReason::kInterrupted);
}

TEST_P(Stopped, EarlyAnswersAreWhole) {
  // What is there after one step still has sizes, a residual and a certificate that says no.
  const auto planted = small_rectangular();
  const Recovery found =
      recover(planted.problem, options(), observed_by(always(Verdict::kInterrupt)));
  EXPECT_EQ(found.U.rows(), 30);
  EXPECT_EQ(found.V.rows(), 25);
  EXPECT_EQ(found.U.cols(), found.d.size());
  const double residual = testing::residual_of(planted.problem, found).norm();
  EXPECT_NEAR(found.relative_residual, residual / planted.problem.b.norm(), 1e-12);
  EXPECT_EQ(found.certificate.verdict, Optimality::kNotConverged);
  EXPECT_FALSE(found.converged);
}

TEST_P(Stopped, SavesOnceWhenStopped) {
  int saves = 0;
  RecoverHooks hooks = observed_by(always(Verdict::kInterrupt));
  hooks.save = [&](const std::string&) { ++saves; };
  recover(small_symmetric().problem, options(), hooks);
  EXPECT_EQ(saves, 1);
}

TEST_P(Stopped, DoesNotSaveARunThatEnds) {
  RecoverHooks hooks;
  hooks.save = [](const std::string&) { ADD_FAILURE() << "saved"; };
  recover(small_symmetric().problem, options(), hooks);
}

INSTANTIATE_TEST_SUITE_P(By, Stopped, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "polish" : "gradient"; });

TEST(StopReason, OfAHugeStepIsDivergence) {
  for (const char* method : {"bm", "udu"}) {
    RecoverOptions options = gradient_options(1000);
    options.method = method;
    options.step = 1e6;
    const Recovery found = recover(small_symmetric().problem, options);
    EXPECT_EQ(found.stop_reason, StopReason::kDiverged) << method;
    EXPECT_FALSE(found.converged || found.relative_residual <= 1);
    EXPECT_EQ(found.certificate.verdict, Optimality::kNotConverged);
  }
}

TEST(StopReason, OfAStartThatDivergesIsDivergence) {
  RecoverOptions options;
  options.start = Start::kDynamics;
  options.method = "bm";
  options.step = 1e6;
  const Recovery found = recover(small_symmetric().problem, options);
  EXPECT_EQ(found.stop_reason, StopReason::kDiverged);
}

TEST(StopReason, HasAName) {
  EXPECT_EQ(to_string(StopReason::kConverged), "converged");
  EXPECT_EQ(to_string(StopReason::kIterationLimit), "iteration limit");
  EXPECT_EQ(to_string(StopReason::kTimeLimit), "time limit");
  EXPECT_EQ(to_string(StopReason::kInterrupted), "interrupted");
  EXPECT_EQ(to_string(StopReason::kDiverged), "diverged");
}

TEST(StartFromDynamics, FindsTheSameAnswer) {
  for (const auto& planted : {small_symmetric(), small_rectangular()}) {
    RecoverOptions options;
    options.start = Start::kDynamics;
    const Recovery found = recover(planted.problem, options);
    EXPECT_EQ(found.rank, planted.U.cols());
    EXPECT_LE(planted.relative_error(found), 1e-9);
    EXPECT_GT(found.columns.iteration.size(), 10u);
  }
}

}  // namespace stop_reason_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/solver/levenberg_marquardt.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/every_scalar.hpp"
#include "support/planted_problems.hpp"

namespace udv {
namespace levenberg_marquardt_test {

using testing::kEps;
using testing::planted_entries;
using testing::planted_quadratic;
using testing::planted_sensing;
using testing::PlantedProblem;
using testing::random_rows;

struct FitCase {
  std::string name;
  std::function<PlantedProblem()> make;
};

void PrintTo(const FitCase& item, std::ostream* out) {
  *out << item.name;
}

double half_squared_residual(const Problem& problem, const StackedFactors<double>& Z) {
  Vector<double> y;
  apply_stack(*problem.op, Z, y);
  return 0.5 * (y - problem.b).squaredNorm();
}

class LevenbergMarquardt : public ::testing::TestWithParam<FitCase> {
 protected:
  const PlantedProblem planted = GetParam().make();
  const Problem& problem = planted.problem;
  FitOptions options;
};

TEST_P(LevenbergMarquardt, ReachesZeroResidualNearTheTruth) {
  StackedFactors<double> Z = planted.near(0.05);
  const FitSummary summary = fit_factors(*problem.op, problem.b, Z, options);
  EXPECT_LE(std::sqrt(2 * summary.objective), 1e-12 * problem.b.norm());
  const Vector<double> ones = Vector<double>::Ones(Z.rank());
  EXPECT_LE(planted.relative_error(Z.U(), ones, Z.V()), 1e-10);
  EXPECT_LE(summary.outer, 20);
}

TEST_P(LevenbergMarquardt, NeverRaisesTheObjective) {
  StackedFactors<double> Z(problem.op->rows(), problem.op->cols(), problem.op->symmetric(), 2);
  Z.Z = 0.3 * random_rows(Z.Z.rows(), 2, 5);
  double last = half_squared_residual(problem, Z);
  options.max_outer = 25;
  const FitSummary summary =
      fit_factors(*problem.op, problem.b, Z, options, [&](const FitStep& step) {
        EXPECT_LE(step.objective, last);
        last = step.objective;
        return true;
      });
  EXPECT_GT(summary.outer, 3);
}

TEST_P(LevenbergMarquardt, SummaryAgreesWithRecomputedValues) {
  StackedFactors<double> Z = planted.near(0.5);
  options.max_outer = 3;
  const FitSummary summary = fit_factors(*problem.op, problem.b, Z, options);
  const double objective = half_squared_residual(problem, Z);
  Vector<double> y;
  apply_stack(*problem.op, Z, y);
  RowMatrix<double> G;
  pull_back(*problem.op, Z, Vector<double>(y - problem.b), G);
  // The residual is a difference: its rounding is that of b.
  const double rounding = 100 * kEps * problem.b.norm();
  EXPECT_NEAR(std::sqrt(summary.objective), std::sqrt(objective), rounding);
  EXPECT_NEAR(summary.gradient_norm, G.norm(), rounding * problem.op->norm_bound() * Z.Z.norm());
  EXPECT_EQ(summary.outer, 3);
  EXPECT_FALSE(summary.stopped);
}

TEST_P(LevenbergMarquardt, EndsAtAStationaryPointOfTheRidgedObjective) {
  StackedFactors<double> Z = planted.near(0.1);
  options.ridge = 0.01 * problem.op->mean_gain() * Z.Z.squaredNorm();
  options.small_gain = 1e-13;
  options.max_outer = 100;
  fit_factors(*problem.op, problem.b, Z, options);
  Vector<double> y;
  apply_stack(*problem.op, Z, y);
  RowMatrix<double> G;
  pull_back(*problem.op, Z, Vector<double>(y - problem.b), G);
  // f is flat to eps where the gradient is sqrt(eps) of its parts.
  EXPECT_LE((G + options.ridge * Z.Z).norm(), 10 * std::sqrt(kEps) * G.norm());
}

TEST_P(LevenbergMarquardt, StopsWhenTheMonitorSaysSo) {
  StackedFactors<double> Z = planted.near(0.5);
  const FitSummary summary =
      fit_factors(*problem.op, problem.b, Z, options, [](const FitStep&) { return false; });
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.outer, 1);
}

TEST_P(LevenbergMarquardt, ReportsItsSteps) {
  StackedFactors<double> Z = planted.near(0.5);
  options.max_outer = 1;
  fit_factors(*problem.op, problem.b, Z, options, [&](const FitStep& step) {
    EXPECT_EQ(step.rank, 2);
    EXPECT_DOUBLE_EQ(step.norm_u, Z.U().norm());  // the library has other flags
    EXPECT_GT(step.damping, 0);
    return true;
  });
}

INSTANTIATE_TEST_SUITE_P(
    For, LevenbergMarquardt,
    ::testing::Values(
        FitCase{"entries_symmetric", [] { return planted_entries(25, 25, true, 2, 4); }},
        FitCase{"entries_rectangular", [] { return planted_entries(25, 20, false, 2, 4); }},
        FitCase{"dense_symmetric", [] { return planted_sensing(10, 10, true, 2, 60); }},
        FitCase{"dense_rectangular", [] { return planted_sensing(10, 8, false, 2, 100); }},
        FitCase{"rank_one", [] { return planted_quadratic(12, 2, 90); }},
        FitCase{"user", [] { return testing::planted_by(testing::make_user(20, 8, false), 2); }}),
    [](const auto& info) { return info.param.name; });

template <typename Scalar>
class FitOver : public ::testing::Test {};
TYPED_TEST_SUITE(FitOver, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(FitOver, EndsAtTheRoundingOfTheMeasurements) {
  const auto planted = testing::planted_places<TypeParam>(25, 20, false, 2, 4);
  const auto& [op, b] = planted.problem;
  StackedFactors<TypeParam> Z = planted.near(0.3);
  const FitSummary first = fit_factors(*op, b, Z, {});
  EXPECT_LE(std::sqrt(2 * first.objective), std::max(1e-13, 8 * kEpsilon<TypeParam>) * b.norm());
  const FitSummary again = fit_factors(*op, b, Z, {});
  EXPECT_EQ(again.inner, 0);
}

TEST(FitOptions, ResidualTargetEndsTheFit) {
  const auto planted = planted_entries(25, 25, true, 2, 4);
  StackedFactors<double> Z = planted.near(0.3);
  FitOptions options;
  options.residual_target = 1e-3;
  const FitSummary summary = fit_factors(*planted.problem.op, planted.problem.b, Z, options);
  const double relative = std::sqrt(2 * summary.objective) / planted.problem.b.norm();
  EXPECT_LE(relative, 1e-3);
  EXPECT_GT(relative, 1e-12);
}

TEST(FitOptions, GradientTargetEndsTheFit) {
  const auto planted = planted_entries(25, 25, true, 2, 4);
  StackedFactors<double> Z = planted.near(0.3);
  FitOptions options;
  options.gradient_target = 1;
  const FitSummary summary = fit_factors(*planted.problem.op, planted.problem.b, Z, options);
  EXPECT_LE(summary.gradient_norm, 1);
  EXPECT_GT(summary.gradient_norm, 1e-8);
}

}  // namespace levenberg_marquardt_test
}  // namespace udv

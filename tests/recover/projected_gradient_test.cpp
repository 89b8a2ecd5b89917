// SPDX-License-Identifier: MIT
#include "udv/recover/solver/projected_gradient.hpp"

#include <gtest/gtest.h>

#include "support/operator_registry.hpp"
#include "udv/recover/problem.hpp"

namespace udv {
namespace projected_gradient_test {

using testing::kEps;
using testing::random_rows;
using testing::random_vector;

bool always(const GradientState&) {
  return true;
}

/// A small problem of the method's shape, scaled to |b| = 1.
Problem small_problem(const Method& method) {
  PlantedOptions options;
  options.rows = 12;
  options.cols = 10;
  options.symmetric = method.symmetric;
  options.rank = 2;
  options.measurements = 60;
  Problem problem = completion(planted_completion(options).entries);
  problem.b /= problem.b.norm();
  return problem;
}

GradientState start_of(const Method& method, const Problem& problem, Index columns,
                       StepRule rule = StepRule(0.1)) {
  return ProjectedGradient<double>::start(
      Factorization<double>(method, problem.op->rows(), problem.op->cols(), columns, 0.5, 1), rule);
}

/// `count` steps with a constant step and without removing columns.
Factorization<double> stepped(const Problem& problem, Factorization<double> x, Index count) {
  GradientOptions options;
  options.max_iterations = count;
  auto state = ProjectedGradient<double>::start(std::move(x), StepRule(0.1));
  ProjectedGradient(*problem.op, problem.b, options).run(state, always);
  return state.factors;
}

TEST(ProjectedGradient, KeepsToItsConstraintSet) {
  for (const Method& method : methods()) {
    const Problem problem = small_problem(method);
    GradientOptions options;
    options.max_iterations = 200;
    options.alpha = 0.7;
    auto state = start_of(method, problem, 10);
    const auto feasible = [&](const GradientState& now) {
      const StackedFactors<double>& Z = now.factors.stack();
      const double reach = 0.7 * (1 + 100 * kEps);
      return !method.diagonal || (Z.U().norm() <= reach && Z.V().norm() <= reach &&
                                  (now.factors.d().array() >= 0).all());
    };
    ProjectedGradient(*problem.op, problem.b, options).run(state, feasible);
    EXPECT_EQ(state.stop, GradientStop::kIterationLimit) << method.name;
  }
}

TEST(ProjectedGradient, LowersTheObjectiveWithASmallStep) {
  for (const Method& method : methods()) {
    const Problem problem = small_problem(method);
    GradientOptions options;
    options.max_iterations = 300;
    auto state = start_of(method, problem, 10, StepRule(0.02));
    double last = std::numeric_limits<double>::infinity();
    const auto falls = [&](const GradientState& now) {
      return std::exchange(last, now.objective) >= now.objective;
    };
    ProjectedGradient(*problem.op, problem.b, options).run(state, falls);
    EXPECT_EQ(state.stop, GradientStop::kIterationLimit) << method.name;
  }
}

TEST(ProjectedGradient, StopsAtTheRelativeResidualAskedFor) {
  const Method& method = method_named("udu");
  const Problem problem = small_problem(method);
  GradientOptions options;
  options.tolerance = 1e-2;
  auto state = start_of(method, problem, 12);
  ProjectedGradient(*problem.op, problem.b, options).run(state, always);
  EXPECT_EQ(state.stop, GradientStop::kConverged);
  EXPECT_LE(std::sqrt(2 * state.objective), 1e-2 * problem.b.norm());
}

TEST(ProjectedGradient, NoticesDivergence) {
  const Problem problem = small_problem(method_named("bm"));
  auto state = start_of(method_named("bm"), problem, 12, StepRule(1e4));
  ProjectedGradient(*problem.op, problem.b, {}).run(state, always);
  EXPECT_EQ(state.stop, GradientStop::kDiverged);
  EXPECT_LT(state.iteration, 100);
}

TEST(ProjectedGradient, StopsWhenTheMonitorSaysSo) {
  const Problem problem = small_problem(method_named("udv"));
  auto state = start_of(method_named("udv"), problem, 10);
  ProjectedGradient(*problem.op, problem.b, {}).run(state, [](const GradientState& now) {
    return now.iteration < 7;
  });
  EXPECT_EQ(state.stop, GradientStop::kObserver);
  EXPECT_EQ(state.iteration, 7);
}

TEST(ProjectedGradient, GoesOnToTheSameBits) {
  for (const StepRule& rule : {StepRule(0.1), StepRule()}) {
    const Problem problem = small_problem(method_named("udu"));
    GradientOptions options;
    options.max_iterations = 500;
    ProjectedGradient solver(*problem.op, problem.b, options);
    auto whole = start_of(method_named("udu"), problem, 12, rule);
    auto parts = whole;
    solver.run(whole, always);
    while (parts.stop != GradientStop::kIterationLimit)
      solver.run(parts, [](const GradientState& now) { return now.iteration % 37 != 0; });
    EXPECT_EQ(parts.factors.stack().Z, whole.factors.stack().Z);
    EXPECT_EQ(parts.factors.d(), whole.factors.d());
    EXPECT_EQ(parts.names, whole.names);
  }
}

TEST(ProjectedGradient, DropsDeadColumnsAndRemembersTheNamesOfTheOthers) {
  const Method& method = method_named("udu");
  const Problem problem = small_problem(method);
  StackedFactors<double> Z(12, 12, true, 6);
  Z.Z = 0.2 * random_rows(12, 6, 2);
  Z.Z.col(1).setZero();
  Z.Z.col(4).setZero();
  const auto x = Factorization<double>(method, Z, Vector<double>::Ones(6));
  GradientOptions options;
  options.max_iterations = 64;
  auto state = ProjectedGradient<double>::start(x, StepRule(0.1));
  ProjectedGradient(*problem.op, problem.b, options).run(state, always);
  EXPECT_EQ(state.names, (std::vector<Index>{0, 2, 3, 5}));
  EXPECT_EQ(state.factors.columns(), 4);
}

TEST(ProjectedGradient, KeepsLongColumnsWhoseWeightIsZero) {
  // The ball binds because of column 0; the weight of column 1 is at its bound, but its vector is
  // long: a later gradient may bring it back.
  const Method& method = method_named("udu");
  const Problem problem = completion({3, 3, true, {0, 1, 2}, {0, 1, 2}, {4, 0, -1}});
  StackedFactors<double> Z(3, 3, true, 2);
  Z.Z(0, 0) = 0.9;
  Z.Z(2, 1) = 0.4;
  auto state = ProjectedGradient<double>::start(
      Factorization<double>(method, Z, Vector<double>::Unit(2, 0)), StepRule(0.001));
  GradientOptions options;
  options.max_iterations = 64;
  ProjectedGradient(*problem.op, problem.b, options).run(state, always);
  ASSERT_TRUE(state.ball_active);
  EXPECT_EQ(state.names, (std::vector<Index>{0, 1}));
}

/// Columns: 0 and 4 alive; 1: u = v = 0; 2: u = d = 0; 3: v = d = 0.
Factorization<double> with_inert_columns() {
  StackedFactors<double> Z(12, 10, false, 5);
  Z.Z = 0.1 * random_rows(22, 5, 3);
  Vector<double> d = Vector<double>::Ones(5);
  Z.Z.col(1).setZero();
  Z.U().col(2).setZero();
  Z.V().col(3).setZero();
  d(2) = d(3) = 0;
  return Factorization<double>(method_named("udv"), Z, d);
}

TEST(InertColumns, AreThoseWithTwoFactorsGone) {
  EXPECT_EQ(with_inert_columns().inert_columns(), (std::vector<Index>{1, 2, 3}));
}

TEST(InertColumns, DoNotIncludeThoseWithOneFactorLeftToGrow) {
  StackedFactors<double> Z(12, 10, false, 3);
  Z.Z = random_rows(22, 3, 4);
  Z.U().col(1).setZero();
  Vector<double> d = Vector<double>::Ones(3);
  d(2) = 0;
  const Factorization<double> x(method_named("udv"), Z, d);
  EXPECT_TRUE(x.inert_columns().empty());
  EXPECT_GT(stepped(small_problem(x.method()), x, 3).magnitudes()(1), 0);
}

TEST(InertColumns, StayInert) {
  const auto late = stepped(small_problem(method_named("udv")), with_inert_columns(), 20);
  EXPECT_EQ(late.inert_columns(), with_inert_columns().inert_columns());
}

TEST(InertColumns, MayGoWithoutChangingTheIterates) {
  // The ball of radius 1 is out of reach: a lone factor of an inert column counts for nothing.
  const Problem problem = small_problem(method_named("udv"));
  Factorization<double> without = with_inert_columns();
  without.remove(without.inert_columns());
  Factorization<double> late = stepped(problem, with_inert_columns(), 20);
  late.remove(late.inert_columns());
  const Factorization<double> expected = stepped(problem, without, 20);
  // Sums over columns have other partners: rounding of 20 steps.
  EXPECT_NEAR((late.stack().Z - expected.stack().Z).norm(), 0, 20 * 10 * kEps);
  EXPECT_NEAR((late.d() - expected.d()).norm(), 0, 20 * 10 * kEps);
}

TEST(GradientState, StartsWithAllColumnsAlive) {
  const Problem problem = small_problem(method_named("udu"));
  const GradientState state = start_of(method_named("udu"), problem, 5);
  EXPECT_EQ(state.live, 5);
  EXPECT_EQ(state.names, (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(state.iteration, 0);
}

}  // namespace projected_gradient_test
}  // namespace udv

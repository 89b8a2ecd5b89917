// SPDX-License-Identifier: MIT
#include "udv/recover/solver/step_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"

namespace udv {
namespace step_rule_test {

using testing::kEps;
using testing::random_rows;
using testing::random_vector;

Factorization<double> point(std::uint64_t seed) {
  StackedFactors<double> Z(5, 5, true, 3);
  Z.Z = random_rows(5, 3, seed);
  return Factorization<double>(method_named("udu"), Z, random_vector(3, seed + 100));
}

FactorGradient<double> gradient(std::uint64_t seed) {
  return {random_rows(5, 3, seed), random_vector(3, seed + 100)};
}

// |a - b| over factors and weights together.
double distance(const RowMatrix<double>& Z, const Vector<double>& d) {
  return std::hypot(Z.norm(), d.norm());
}

TEST(StepRule, StaysConstantWhereOneIsGiven) {
  StepRule rule(0.25);
  for (std::uint64_t k = 0; k < 3; ++k) EXPECT_EQ(rule.next(point(k), gradient(k)), 0.25);
}

TEST(StepRule, StartsWithTheFirstStep) {
  StepRule rule(std::nullopt, 0.5);
  EXPECT_EQ(rule.next(point(1), gradient(1)), 0.5);
}

TEST(StepRule, FollowsTheLocalCurvature) {
  StepRule rule(std::nullopt, 10);
  const auto x = point(1), y = point(2);
  const auto g = gradient(3), h = gradient(4);
  rule.next(x, g);
  const double expected =
      0.5 * distance(y.stack().Z - x.stack().Z, y.d() - x.d()) / distance(h.Z - g.Z, h.d - g.d);
  ASSERT_LT(expected, 10);
  EXPECT_NEAR(rule.next(y, h), expected, 20 * kEps * expected);
}

TEST(StepRule, GrowsBySqrtTwoAtMostAtFirst) {
  StepRule rule(std::nullopt, 1e-6);
  rule.next(point(1), gradient(3));
  EXPECT_NEAR(rule.next(point(2), gradient(4)), std::sqrt(2) * 1e-6, 10 * kEps * 1e-6);
}

TEST(StepRule, GrowsWhereTheGradientDoesNotTurn) {
  StepRule rule(std::nullopt, 1);
  double last = rule.next(point(1), gradient(3)), before = last;
  for (std::uint64_t k = 2; k < 5; ++k) {
    const double grown = last * std::sqrt(1 + last / before);
    const double next = rule.next(point(k), gradient(3));
    EXPECT_NEAR(next, grown, 10 * kEps * grown);
    before = std::exchange(last, next);
  }
}

TEST(StepRule, NeverBecomesZero) {
  StepRule rule(std::nullopt, 0.5);
  rule.next(point(1), gradient(3));
  EXPECT_GT(rule.next(point(1), gradient(4)), 0);
}

TEST(StepRule, ForgetsRemovedColumns) {
  StepRule rule(std::nullopt, 10), fresh(std::nullopt, 10);
  const auto less = [](Factorization<double> x) {
    x.remove({1});
    return x;
  };
  const auto less_gradient = [](const FactorGradient<double>& g) -> FactorGradient<double> {
    return {g.Z(Eigen::all, std::vector<Index>{0, 2}), g.d(std::vector<Index>{0, 2})};
  };
  rule.next(point(1), gradient(3));
  rule.remove({1});
  fresh.next(less(point(1)), less_gradient(gradient(3)));
  EXPECT_EQ(rule.next(less(point(2)), less_gradient(gradient(4))),
            fresh.next(less(point(2)), less_gradient(gradient(4))));
}

}  // namespace step_rule_test
}  // namespace udv

// SPDX-License-Identifier: MIT
// --step 0.1 --alpha 1 --scale unit --polish off: the paper's algorithm to the letter.
#include <gtest/gtest.h>

#include <cmath>

#include "support/operator_laws.hpp"
#include "support/planted_problems.hpp"

namespace udv {
namespace recover_paper_test {

using testing::kEps;
using testing::PlantedProblem;

RecoverOptions paper_options(const std::string& method, Index iterations) {
  RecoverOptions options;
  options.method = method;
  options.rank_walk = false;
  options.step = 0.1;
  options.alpha = 1;
  options.scale_rule = ScaleRule::kUnit;
  options.init_norm = 0.5;
  options.max_iterations = iterations;
  options.record = Recording::kEvery;
  options.seed = 3;
  return options;
}

/// One step as the paper writes it, with formed matrices. Gives the objective before it.
double plain_step(const Problem& problem, const Vector<double>& b, const Method& method,
                  double step, RowMatrix<double>& U, Vector<double>& d, RowMatrix<double>& V) {
  const MeasurementOperator<double>& op = *problem.op;
  const RowMatrix<double> right = method.symmetric ? U : V;
  const Vector<double> z = testing::measured(op, U, d, right) - b;
  const RowMatrix<double> G =
      testing::adjoint_times(op, z, RowMatrix<double>::Identity(op.cols(), op.cols()));
  const double weight = method.symmetric ? 2 : 1;
  const RowMatrix<double> next_u = U - step * weight * G * right * d.asDiagonal();
  const RowMatrix<double> next_v = V - step * weight * G.transpose() * U * d.asDiagonal();
  if (method.diagonal) d = (d - step * (U.transpose() * G * right).diagonal()).cwiseMax(0);
  const auto reach = [&](const RowMatrix<double>& factor) {
    return method.diagonal ? std::min(1.0, 1 / factor.norm()) : 1.0;
  };
  U = next_u * reach(next_u);
  V = next_v * reach(next_v);
  return 0.5 * z.squaredNorm();
}

std::vector<double> plain_loop(const Problem& problem, const RecoverOptions& options) {
  const Method& method = method_named(options.method);
  const Index rows = problem.op->rows(), cols = problem.op->cols();
  const Factorization<double> start(method, rows, cols, std::min(rows, cols), options.init_norm,
                                    options.seed);
  RowMatrix<double> U = start.stack().U(), V = start.stack().V();
  Vector<double> d = start.d();
  const Vector<double> b = problem.b / problem.b.norm();
  std::vector<double> objectives;
  for (Index k = 0; k < options.max_iterations; ++k)
    objectives.push_back(plain_step(problem, b, method, *options.step, U, d, V));
  return objectives;
}

class PaperMode : public ::testing::TestWithParam<std::string> {
 protected:
  const Method& method = method_named(GetParam());
  const PlantedProblem planted =
      method.symmetric ? testing::small_symmetric() : testing::small_rectangular();
};

TEST_P(PaperMode, IsThePlainLoop) {
  const RecoverOptions options = paper_options(GetParam(), 60);
  const Recovery found = recover(planted.problem, options);
  const std::vector<double> expected = plain_loop(planted.problem, options);
  const double unit = planted.problem.b.squaredNorm();
  ASSERT_EQ(found.history.size(), expected.size());
  // Rounding of 60 steps, each of sums over 30 columns.
  for (size_t k = 0; k < expected.size(); ++k)
    EXPECT_NEAR(found.history[k].objective / unit, expected[k], 1e-12 * expected[k]) << k;
}

TEST_P(PaperMode, KeepsToTheConstraints) {
  const Recovery found = recover(planted.problem, paper_options(GetParam(), 500));
  if (method.diagonal) {
    EXPECT_LE(found.U.norm(), 1 + 100 * kEps);
    EXPECT_LE(found.V.norm(), 1 + 100 * kEps);
    EXPECT_TRUE((found.d.array() >= 0).all());
  } else {
    EXPECT_TRUE((found.d.array() == 1).all());
  }
}

TEST_P(PaperMode, ReportsItsSettings) {
  const Recovery found = recover(planted.problem, paper_options(GetParam(), 20));
  EXPECT_EQ(found.step, 0.1);
  EXPECT_EQ(found.alpha, 1);
  EXPECT_FALSE(found.by_rank_walk);
  EXPECT_EQ(found.iterations, 20);
  EXPECT_EQ(found.stop_reason, StopReason::kIterationLimit);
}

TEST_P(PaperMode, ResidualAgreesWithTheFactors) {
  const Recovery found = recover(planted.problem, paper_options(GetParam(), 100));
  const double residual = testing::residual_of(planted.problem, found).norm();
  EXPECT_NEAR(std::sqrt(2 * found.objective), residual, 1e-12 * residual);
}

INSTANTIATE_TEST_SUITE_P(Of, PaperMode, ::testing::Values("bm", "udu", "uv", "udv"),
                         [](const auto& info) { return info.param; });

TEST(PaperMode, FindsTheTrueRankWithoutBeingToldIt) {
  RecoverOptions options = paper_options("udu", 20'000);
  options.init_norm = 1e-2;
  options.record = Recording::kNone;
  const PlantedProblem planted = testing::planted_entries(40, 40, true, 3, 2.6);
  const Recovery found = recover(planted.problem, options);
  EXPECT_EQ(found.rank, 3);
  EXPECT_LE(planted.relative_error(found), 1e-6);
}

TEST(PaperMode, KeepsTheColumnsThatTheUserAskedFor) {
  RecoverOptions options = paper_options("udv", 10);
  options.max_rank = 4;
  EXPECT_EQ(recover(testing::small_rectangular().problem, options).U.cols(), 4);
}

}  // namespace recover_paper_test
}  // namespace udv

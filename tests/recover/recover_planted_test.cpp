// SPDX-License-Identifier: MIT
// recover() on problems whose answer is known: rank, error, and every field recomputed.
#include <gtest/gtest.h>

#include <functional>

#include "core/require.hpp"
#include "support/operator_laws.hpp"
#include "support/planted_problems.hpp"
#include "support/reference.hpp"

namespace udv {
namespace recover_planted_test {

using testing::dense;
using testing::kEps;
using testing::planted_entries;
using testing::planted_quadratic;
using testing::planted_sensing;
using testing::PlantedProblem;
using testing::residual_of;

struct RecoverCase {
  std::string name;
  std::function<PlantedProblem()> make;
  std::string method = "auto";
};

void PrintTo(const RecoverCase& item, std::ostream* out) {
  *out << item.name;
}

RowMatrix<double> product_of(const Recovery& found) {
  return dense(found.U, found.d, found.symmetric ? found.U : found.V);
}

class PlantedMatrix : public ::testing::TestWithParam<RecoverCase> {
 protected:
  static RecoverOptions options() {
    RecoverOptions chosen;
    chosen.method = GetParam().method;
    return chosen;
  }
  const PlantedProblem planted = GetParam().make();
  const Problem& problem = planted.problem;
  const Recovery found = recover(problem, options());
};

TEST_P(PlantedMatrix, IsFoundWithItsRank) {
  EXPECT_EQ(found.rank, planted.U.cols());
  EXPECT_LE(planted.relative_error(found), 1e-9);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.certificate.verdict, Optimality::kGlobal);
}

TEST_P(PlantedMatrix, ResidualAgreesWithTheFactors) {
  const Vector<double> residual = residual_of(problem, found);
  // The residual is a difference of numbers as large as b; both ways of computing it round.
  const double rounding = 100 * kEps * problem.b.norm();
  EXPECT_NEAR(std::sqrt(2 * found.objective), residual.norm(), rounding);
  EXPECT_NEAR(found.relative_residual, residual.norm() / problem.b.norm(), 100 * kEps);
}

TEST_P(PlantedMatrix, SpectrumIsThatOfTheProduct) {
  const Vector<double> expected =
      testing::singular_values_of(product_of(found)).head(found.spectrum.size());
  EXPECT_NEAR((found.spectrum - expected).norm(), 0, 100 * kEps * expected(0));
  EXPECT_GE(found.spectrum.size(), std::min(found.rank + 1, std::min(found.rows, found.cols)));
  const double gap = rank_gap(found.spectrum, found.rank);
  EXPECT_NEAR(found.rank_gap, gap, 10 * kEps * gap);
}

TEST_P(PlantedMatrix, FiguresOfTheCertificateAreThoseOfTheFormedGradient) {
  const Vector<double> residual = residual_of(problem, found);
  const auto identity = RowMatrix<double>::Identity(found.cols, found.cols);
  const RowMatrix<double> G = testing::adjoint_times(*problem.op, residual, identity);
  const RowMatrix<double> at_zero = testing::adjoint_times(*problem.op, problem.b, identity);
  const double unit = testing::singular_values_of(at_zero)(0);
  // Both are rounding: |G| <= norm_bound |residual|.
  const double bound = problem.op->norm_bound() * residual.norm() / unit + 100 * kEps;
  EXPECT_LE(found.certificate.stationarity, 2 * bound);
  EXPECT_LE(found.certificate.complementarity, 2 * bound);
  EXPECT_LE(found.certificate.dual_infeasibility, 2 * bound);
  EXPECT_LE(G.norm() / unit, 2 * bound);
}

TEST_P(PlantedMatrix, SizesAndNamesAreThoseOfTheProblem) {
  EXPECT_EQ(found.operator_name, problem.op->name());
  EXPECT_EQ(found.rows, problem.op->rows());
  EXPECT_EQ(found.cols, problem.op->cols());
  EXPECT_EQ(found.measurements, problem.b.size());
  EXPECT_EQ(found.symmetric, problem.op->symmetric());
  EXPECT_TRUE(found.by_rank_walk);
  const std::string expected = found.symmetric ? "udu" : "udv";
  EXPECT_EQ(found.method, GetParam().method == "auto" ? expected : GetParam().method);
}

TEST_P(PlantedMatrix, FactorsKeepToTheMethod) {
  const Method& method = method_named(found.method);
  EXPECT_EQ(found.U.cols(), found.d.size());
  EXPECT_EQ(found.V.rows(), method.symmetric ? 0 : found.cols);
  EXPECT_TRUE((found.d.array() >= 0).all());
  EXPECT_LE(found.U.norm(), method.diagonal ? found.alpha * (1 + 100 * kEps) : HUGE_VAL);
  EXPECT_EQ(method.diagonal, (found.d.array() != 1).any());
}

TEST_P(PlantedMatrix, PredictsTheEntriesOfTheProduct) {
  const RowMatrix<double> X = product_of(found);
  for (Index i = 0; i < found.rows; i += 5)
    EXPECT_NEAR(found.predict(i, found.cols - 1), X(i, found.cols - 1), 100 * kEps * X.norm());
}

INSTANTIATE_TEST_SUITE_P(
    Problem, PlantedMatrix,
    ::testing::Values(
        RecoverCase{"symmetric_rank_1", [] { return planted_entries(40, 40, true, 1, 4); }},
        RecoverCase{"symmetric_rank_2", [] { return planted_entries(40, 40, true, 2, 3); }},
        RecoverCase{"symmetric_rank_5", [] { return planted_entries(50, 50, true, 5, 3); }},
        RecoverCase{"symmetric_condition_10",
                    [] { return planted_entries(50, 50, true, 3, 3, 10); }},
        RecoverCase{"symmetric_bm", [] { return planted_entries(40, 40, true, 3, 3); }, "bm"},
        RecoverCase{"rectangular_rank_1", [] { return planted_entries(40, 30, false, 1, 4); }},
        RecoverCase{"rectangular_rank_3", [] { return planted_entries(30, 50, false, 3, 3); }},
        RecoverCase{"rectangular_rank_8", [] { return planted_entries(80, 60, false, 8, 2.5); }},
        RecoverCase{"rectangular_condition_10",
                    [] { return planted_entries(60, 50, false, 3, 3, 10); }},
        RecoverCase{"rectangular_uv", [] { return planted_entries(40, 30, false, 2, 3); }, "uv"},
        RecoverCase{"dense_rectangular", [] { return planted_sensing(12, 10, false, 2, 120); }},
        RecoverCase{"dense_symmetric", [] { return planted_sensing(12, 12, true, 2, 70); }},
        RecoverCase{"dense_full_rank", [] { return planted_sensing(5, 5, false, 5, 40); }},
        RecoverCase{"rank_one", [] { return planted_quadratic(15, 2, 110); }},
        RecoverCase{"user",
                    [] { return testing::planted_by(testing::make_user(20, 9, false), 1); }},
        RecoverCase{"user_symmetric",
                    [] { return testing::planted_by(testing::make_user(12, 12, true), 2); }}),
    [](const auto& info) { return info.param.name; });

TEST(Recover, FindsANumber) {
  const Recovery found = recover(completion({1, 1, false, {0}, {0}, {-3}}));
  EXPECT_EQ(found.rank, 1);
  EXPECT_NEAR(found.predict(0, 0), -3, 1e-9);
  EXPECT_EQ(found.spectrum.size(), 1);
}

TEST(Recover, FindsAColumn) {
  const Recovery found = recover(completion({3, 1, false, {0, 1, 2}, {0, 0, 0}, {1, -2, 5}}));
  EXPECT_EQ(found.rank, 1);
  EXPECT_NEAR(found.predict(2, 0), 5, 1e-8);
}

TEST(Recover, FindsASymmetricNumberWhereItIsPositive) {
  EXPECT_EQ(recover(completion({1, 1, true, {0}, {0}, {3}})).rank, 1);
  EXPECT_EQ(recover(completion({1, 1, true, {0}, {0}, {-3}})).rank, 0);
}

/// The message of recover(), which check() must give too.
std::string refusal(const Problem& problem, const RecoverOptions& options = {}) {
  const std::string error = testing::error_of([&] { recover(problem, options); });
  EXPECT_EQ(testing::error_of([&] { check(problem, options); }), error);
  return error;
}

TEST(Recover, RefusesAMethodOfTheOtherShape) {
  RecoverOptions options;
  options.method = "udv";
  EXPECT_EQ(refusal(testing::small_symmetric().problem, options),
            "method udv is for rectangular problems, this one is symmetric");
  options.method = "bm";
  EXPECT_EQ(refusal(testing::small_rectangular().problem, options),
            "method bm is for symmetric problems, this one is rectangular");
}

TEST(Recover, RefusesAProblemThatIsNotWhole) {
  EXPECT_EQ(refusal({}), "the problem has no measurement operator");
  Problem problem = testing::small_symmetric().problem;
  problem.b.conservativeResize(5);
  EXPECT_EQ(refusal(problem),
            message("b has 5 values, ", problem.op->num_measurements(), " expected"));
}

TEST(Recover, ValidatesItsOptions) {
  RecoverOptions options;
  options.max_rank = -1;
  EXPECT_EQ(refusal(testing::small_symmetric().problem, options),
            "max_rank is -1, 0 or more expected");
}

TEST(Check, AcceptsWhatCanBeSolved) {
  EXPECT_NO_THROW(check(testing::small_symmetric().problem, {}));
}

}  // namespace recover_planted_test
}  // namespace udv

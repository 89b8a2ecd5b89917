// SPDX-License-Identifier: MIT
#include "udv/recover/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "recover/split.hpp"
#include "support/operator_laws.hpp"

namespace udv {
namespace problem_test {

using testing::dense;
using testing::error_of;
using testing::kEps;
using testing::random_rows;
using testing::random_vector;

Entries two_by_two(std::vector<double> values) {
  return {2, 2, false, {0, 1, 1}, {1, 0, 1}, std::move(values)};
}

TEST(Completion, TakesEntriesInAnyOrder) {
  const Entries shuffled{2, 3, false, {1, 0, 1}, {2, 0, 0}, {7, 5, 6}};
  const Problem problem = completion(shuffled);
  const RowMatrix<double> X = random_rows(2, 3, 1);
  const Vector<double> y =
      testing::measured(*problem.op, X, Vector<double>::Ones(3), RowMatrix<double>::Identity(3, 3));
  EXPECT_EQ(problem.b, (Vector<double>(3) << 5, 6, 7).finished());
  EXPECT_EQ(y, (Vector<double>(3) << X(0, 0), X(1, 0), X(1, 2)).finished());
}

TEST(Completion, GivesItsEntriesBackRowByRow) {
  const Entries given{2, 3, false, {1, 0, 1}, {2, 1, 0}, {7, 8, 9}};
  const Entries back = entries_of(completion(given));
  EXPECT_EQ(back.rows, 2);
  EXPECT_EQ(back.cols, 3);
  EXPECT_EQ(back.row, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(back.col, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(back.value, (std::vector<double>{8, 9, 7}));
  const Entries half = entries_of(completion(Entries{2, 2, true, {0, 0}, {1, 0}, {5, 6}}));
  EXPECT_TRUE(half.symmetric);
  EXPECT_EQ(half.col, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(half.value, (std::vector<double>{6, 5}));
  Entries weighted = given;
  weighted.weight = {1, 2, 3};
  EXPECT_THROW(entries_of(completion(weighted)), InvalidArgument);
}

TEST(Completion, TakesTheRootsOfWeightsIntoTheMeasurements) {
  const Entries shuffled{2, 3, false, {1, 0, 1}, {2, 0, 0}, {7, 5, 6}, {4, 1, 0}};
  const Problem problem = completion(shuffled);
  EXPECT_EQ(problem.b, (Vector<double>(3) << 5, 0, 14).finished());
  EXPECT_EQ(problem.op->norm_bound(), 2);
}

TEST(Completion, RefusesValuesThatAreNotFinite) {
  EXPECT_EQ(error_of([] {
              completion(two_by_two({1, std::nan(""), 2}));
            }),
            "measurement 1 is nan, a finite number expected");
  EXPECT_EQ(error_of([] {
              completion(two_by_two({1, 2, -HUGE_VAL}));
            }),
            "measurement 2 is -inf, a finite number expected");
}

TEST(Completion, RefusesNothingButZeros) {
  EXPECT_EQ(error_of([] {
              completion(two_by_two({0, 0, 0}));
            }),
            "all 3 measurements are zero: X = 0 fits, and any other rank would be a guess");
}

TEST(Completion, RefusesPlacesOutsideTheMatrix) {
  EXPECT_EQ(error_of([] {
              completion({2, 2, false, {0}, {2}, {1}});
            }),
            "entries: entry 0 stands at (0, 2), outside 2 x 2");
}

TEST(Completion, RefusesFewerPlacesThanValues) {
  EXPECT_EQ(error_of([] {
              completion({2, 2, false, {0}, {1}, {1, 2, 3}});
            }),
            "entries: 1 rows, 1 columns and 3 values, equally many expected");
}

TEST(Completion, RefusesMorePlacesThanValues) {
  EXPECT_EQ(error_of([] {
              completion({2, 2, false, {0, 1, 1}, {1, 0, 1}, {1, 2}});
            }),
            "entries: 3 rows, 3 columns and 2 values, equally many expected");
}

TEST(Sensing, RefusesAWrongNumberOfValues) {
  EXPECT_EQ(error_of([] { sensing(random_rows(4, 6, 1), random_vector(3, 2), 2, 3, false); }),
            "b has 3 values, 4 expected");
  EXPECT_EQ(error_of([] { quadratic_sensing(random_rows(4, 3, 1), random_vector(5, 2)); }),
            "b has 5 values, 4 expected");
}

TEST(Sensing, RefusesMatricesThatAreNotFinite) {
  RowMatrix<double> A = random_rows(4, 6, 1);
  A(2, 3) = std::nan("");
  EXPECT_NE(error_of([&] { sensing(A, random_vector(4, 2), 2, 3, false); }), "no error");
  EXPECT_NE(error_of([&] { quadratic_sensing(A, random_vector(4, 2)); }), "no error");
}

TEST(Split, GivesEachMeasurementToOneSide) {
  const Problem problem{sensing(random_rows(20, 6, 1), random_vector(20, 2), 2, 3, false)};
  const auto [used, held] = split(problem, 0.25, 3);
  EXPECT_EQ(used.b.size(), 15);
  EXPECT_EQ(held.b.size(), 5);
  std::multiset<double> parts(used.b.begin(), used.b.end());
  parts.insert(held.b.begin(), held.b.end());
  EXPECT_EQ(parts, std::multiset<double>(problem.b.begin(), problem.b.end()));
}

TEST(Split, KeepsValuesWithTheirMeasurements) {
  const RowMatrix<double> A = random_rows(20, 6, 1), U = random_rows(2, 1, 2),
                          V = random_rows(3, 1, 3);
  Problem problem = sensing(A, Vector<double>::Ones(20), 2, 3, false);
  problem.b = testing::measured(*problem.op, U, Vector<double>::Ones(1), V);
  const auto [used, held] = split(problem, 0.3, 4);
  for (const Problem& part : {used, held}) {
    const Vector<double> y = testing::measured(*part.op, U, Vector<double>::Ones(1), V);
    EXPECT_NEAR((y - part.b).norm(), 0, 10 * kEps * A.norm() * U.norm() * V.norm());
  }
}

TEST(Split, DependsOnTheSeedAlone) {
  const Problem problem{sensing(random_rows(40, 6, 1), random_vector(40, 2), 2, 3, false)};
  EXPECT_EQ(split(problem, 0.5, 1).second.b, split(problem, 0.5, 1).second.b);
  EXPECT_NE(split(problem, 0.5, 1).second.b, split(problem, 0.5, 2).second.b);
}

TEST(Split, RefusesToHoldOutNoneOrAll) {
  const Problem problem{sensing(random_rows(4, 6, 1), random_vector(4, 2), 2, 3, false)};
  EXPECT_EQ(error_of([&] { split(problem, 0.01, 1); }),
            "holdout: 0 of 4 measurements would be held out, at least 1 and fewer than all "
            "expected");
  EXPECT_EQ(error_of([&] { split(problem, 0.99, 1); }),
            "holdout: 4 of 4 measurements would be held out, at least 1 and fewer than all "
            "expected");
}

TEST(PlantedCompletion, ListsDifferentEntriesOfItsMatrix) {
  for (const bool symmetric : {true, false}) {
    PlantedOptions options;
    options.symmetric = symmetric;
    options.cols = symmetric ? 100 : 70;
    const Planted planted = planted_completion(options);
    std::set<std::pair<int, int>> places;
    for (size_t t = 0; t < planted.entries.value.size(); ++t) {
      const int i = planted.entries.row[t], j = planted.entries.col[t];
      places.emplace(i, j);
      EXPECT_TRUE(!symmetric || i <= j);
      EXPECT_NEAR(planted.entries.value[t], planted.U.row(i).dot(planted.V.row(j)), 1e-14);
    }
    EXPECT_EQ(places.size(), 900u);
  }
}

TEST(PlantedCompletion, HasTheConditionAskedFor) {
  PlantedOptions options;
  options.rank = 4;
  options.condition = 100;
  const Planted planted = planted_completion(options);
  const Vector<double> squares = planted.U.colwise().squaredNorm().transpose();
  // A column of 100 squared Gaussians has a relative spread of 14 %.
  EXPECT_NEAR(squares(0) / squares(3) / 100, 1, 0.5);
}

TEST(PlantedCompletion, AddsNoiseOfTheSizeAskedFor) {
  PlantedOptions options;
  const Planted clean = planted_completion(options);
  options.noise = 0.1;
  const Planted noisy = planted_completion(options);
  const Eigen::Map<const Vector<double>> b(clean.entries.value.data(), 900);
  const Eigen::Map<const Vector<double>> c(noisy.entries.value.data(), 900);
  // 900 samples: the root mean square is known to 1 / sqrt(1800).
  EXPECT_NEAR((c - b).norm() / b.norm(), 0.1, 4 * 0.1 / std::sqrt(1800));
}

TEST(PlantedCompletion, DependsOnTheSeed) {
  PlantedOptions one, other;
  other.seed = 1;
  EXPECT_EQ(planted_completion(one).entries.value, planted_completion(one).entries.value);
  EXPECT_NE(planted_completion(one).entries.value, planted_completion(other).entries.value);
}

TEST(PlantedCompletion, RefusesMoreEntriesThanTheMatrixHas) {
  PlantedOptions options;
  options.rows = 3;
  options.measurements = 7;
  EXPECT_EQ(error_of([&] { planted_completion(options); }),
            "planted problem: 7 entries wanted, the matrix has 6");
}

TEST(Planted, RelativeErrorIsThatOfTheFormedMatrices) {
  PlantedOptions options;
  options.rows = 9;
  options.cols = 7;
  options.symmetric = false;
  options.measurements = 20;
  const Planted planted = planted_completion(options);
  const RowMatrix<double> U = random_rows(9, 2, 1), V = random_rows(7, 2, 2);
  const Vector<double> d = random_vector(2, 3);
  const RowMatrix<double> X = testing::product(planted.U, planted.V.transpose());
  const double expected = (dense(U, d, V) - X).norm() / X.norm();
  EXPECT_NEAR(planted.relative_error(U, d, V), expected, 100 * kEps * expected);
  EXPECT_NEAR(planted.relative_error(planted.U, Vector<double>::Ones(3), planted.V), 0, 100 * kEps);
}

}  // namespace problem_test
}  // namespace udv

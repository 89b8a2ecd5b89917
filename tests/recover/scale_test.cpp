// SPDX-License-Identifier: MIT
// Rows and columns of very different sizes, and columns of X of very different sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "recover/solver/equilibrate.hpp"
#include "support/planted_problems.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace scale_test {

using testing::completed;

/// A planted matrix whose entry (i, j) is multiplied by rows[i] cols[j].
struct ScaledProblem {
  Planted planted;
  Vector<double> rows, cols;

  Problem problem() const {
    Entries entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t)
      entries.value[t] *= rows(entries.row[t]) * cols(entries.col[t]);
    return completion(entries);
  }
  /// Largest error of a row against the size of this row.
  double error(const Recovery& found) const {
    const RowMatrix<double> X = testing::product(planted.U, planted.V.transpose());
    double worst = 0;
    for (Index i = 0; i < X.rows(); ++i) {
      Vector<double> row(X.cols());
      for (Index j = 0; j < X.cols(); ++j) row(j) = found.predict(i, j) / (rows(i) * cols(j));
      worst = std::max(worst, (row - X.row(i).transpose()).norm() / X.row(i).norm());
    }
    return worst;
  }
};

ScaledProblem unscaled(bool symmetric, Index rank, double condition) {
  const Index cols = symmetric ? 60 : 70;
  ScaledProblem scaled{completed(60, cols, symmetric, rank, 5, condition, 0, 7), {}, {}};
  scaled.rows = Vector<double>::Ones(60);
  scaled.cols = Vector<double>::Ones(cols);
  return scaled;
}

Vector<double> random_factors(Index size) {
  Random random(3, kStreamProbe);
  Vector<double> factors(size);
  for (double& factor : factors) factor = std::pow(10, 4 * random.uniform() - 2);
  return factors;
}

void expect_recovered(const ScaledProblem& scaled, Index rank) {
  const Recovery found = recover(scaled.problem());
  EXPECT_EQ(found.rank, rank);
  EXPECT_EQ(found.d.size(), rank);
  EXPECT_LE(scaled.error(found), 1e-6);
  EXPECT_LE(found.relative_residual, 1e-9);
  // Balanced as always: unit columns, weights from the largest to the smallest.
  for (Index c = 0; c < rank; ++c) EXPECT_NEAR(found.U.col(c).norm(), 1, 1e-9);
  for (Index c = 1; c < rank; ++c) EXPECT_GE(found.d(c - 1), found.d(c));
}

TEST(LineScales, MakeAllLinesEquallyLarge) {
  ScaledProblem scaled = unscaled(false, 3, 1);
  scaled.rows = random_factors(60);
  const Problem problem = scaled.problem();
  const LineScales scales = line_scales(*problem.op, problem.b);
  const Vector<double> b = divided(*problem.op, problem.b, scales);
  const LineScales again = line_scales(*problem.op, b);
  EXPECT_LE((again.rows.array() / again.rows(0) - 1).abs().maxCoeff(), 0.01);
  EXPECT_LE((again.cols.array() / again.cols(0) - 1).abs().maxCoeff(), 0.01);
}

TEST(LineScales, AreUndoneInTheFactors) {
  ScaledProblem scaled = unscaled(false, 2, 1);
  scaled.cols = random_factors(70);
  const Problem problem = scaled.problem();
  const LineScales scales = line_scales(*problem.op, problem.b).beyond(4);
  StackedFactors<double> Z(60, 70, false, 2);
  Z.U() = scales.rows.cwiseInverse().asDiagonal() * scaled.planted.U;
  Z.V() = (scaled.cols.cwiseQuotient(scales.cols)).asDiagonal() * scaled.planted.V;
  Vector<double> y;
  apply_stack(*problem.op, Z, y);
  const Vector<double> expected = divided(*problem.op, problem.b, scales);
  EXPECT_LE((y - expected).norm(), 1e-13 * expected.norm());
  apply_stack(*problem.op, multiplied(Z, scales), y);
  EXPECT_LE((y - problem.b).norm(), 1e-13 * problem.b.norm());
}

TEST(LineScales, OfGaussianFactorsDoNotMatter) {
  for (const Index rank : {1, 3})
    for (const bool symmetric : {false, true}) {
      const Problem problem = unscaled(symmetric, rank, 1).problem();
      EXPECT_FALSE(line_scales(*problem.op, problem.b).matter()) << rank;
    }
}

TEST(LineScales, OfAFewLargeRowsMatter) {
  ScaledProblem scaled = unscaled(false, 3, 1);
  scaled.rows.head(3).setConstant(1e4);
  const Problem problem = scaled.problem();
  EXPECT_TRUE(line_scales(*problem.op, problem.b).matter());
}

TEST(Scale, OfThreeRowsMayBeLarger) {
  ScaledProblem scaled = unscaled(false, 3, 1);
  scaled.rows.head(3).setConstant(1e4);
  expect_recovered(scaled, 3);
}

TEST(Scale, OfThreeColumnsMayBeLargerInAnIllConditionedMatrix) {
  ScaledProblem scaled = unscaled(false, 3, 1e4);
  scaled.cols.head(3).setConstant(1e4);
  expect_recovered(scaled, 3);
}

TEST(Scale, OfAllRowsMayDiffer) {
  ScaledProblem scaled = unscaled(false, 3, 1);
  scaled.rows = random_factors(60);
  expect_recovered(scaled, 3);
}

TEST(Scale, OfSymmetricLinesMayDiffer) {
  ScaledProblem scaled = unscaled(true, 3, 1);
  scaled.rows.head(3).setConstant(1e4);
  scaled.cols = scaled.rows;
  expect_recovered(scaled, 3);
}

TEST(Scale, LeavesNoisyDataToTheOrdinaryWalk) {
  ScaledProblem scaled = unscaled(false, 2, 1);
  scaled.planted = completed(60, 70, false, 2, 5, 1, 0.05, 7);
  scaled.rows.head(3).setConstant(1e3);
  const Recovery found = recover(scaled.problem());
  EXPECT_GT(found.noise_sigma, 0);
  EXPECT_NE(found.certificate.verdict, Optimality::kNotConverged);
}

TEST(Scale, OfColumnsOfXMayDifferByAMillion) {
  for (const Index rank : {3, 5}) expect_recovered(unscaled(false, rank, 1e6), rank);
}

}  // namespace scale_test
}  // namespace udv

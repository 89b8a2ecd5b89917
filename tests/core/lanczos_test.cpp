// SPDX-License-Identifier: MIT
#include "udv/core/lanczos.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "support/random_data.hpp"

namespace udv {
namespace {

using testing::kEps;
using testing::random_rows;

Matrix<double> random_symmetric(Index n, std::uint64_t seed) {
  const Matrix<double> G = random_rows(n, n, seed);
  return G + G.transpose();
}

EigenPairs<double> smallest_of(const Matrix<double>& S, Index count, Index steps) {
  Random random(1, testing::kTestStream);
  const auto product = [&](const Vector<double>& x, Vector<double>& y) { y = S * x; };
  return smallest_eigenpairs<double>(S.rows(), product, count, steps, random);
}

// Full reorthogonalisation: rounding grows with the number of steps at most.
double tolerance(const Matrix<double>& S) {
  return 10 * kEps * static_cast<double>(S.rows()) * S.norm();
}

TEST(Lanczos, FindsAllEigenvaluesOfASmallMatrix) {
  const Matrix<double> S = random_symmetric(12, 1);
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> whole(S);
  const EigenPairs pairs = smallest_of(S, 12, 12);
  ASSERT_EQ(pairs.values.size(), 12);
  EXPECT_NEAR((pairs.values - whole.eigenvalues()).norm(), 0, tolerance(S));
}

TEST(Lanczos, ConvergesToTheSmallestPairsOfALargeMatrix) {
  // Two values well below the others, so that 60 steps suffice.
  Matrix<double> S = random_symmetric(200, 2);
  S.diagonal().head(2).array() -= 300;
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> whole(S);
  const EigenPairs pairs = smallest_of(S, 2, 60);
  EXPECT_NEAR((pairs.values - whole.eigenvalues().head(2)).norm(), 0, tolerance(S));
}

TEST(Lanczos, GivesUnitEigenvectors) {
  const Matrix<double> S = random_symmetric(15, 3);
  const EigenPairs pairs = smallest_of(S, 4, 15);
  const Matrix<double> residual = S * pairs.vectors - pairs.vectors * pairs.values.asDiagonal();
  EXPECT_NEAR(residual.norm(), 0, tolerance(S));
  const Matrix<double> gram = pairs.vectors.transpose() * pairs.vectors;
  EXPECT_NEAR((gram - Matrix<double>::Identity(4, 4)).norm(), 0, 150 * kEps);
}

TEST(Lanczos, EndsWhereTheKrylovSpaceIsExhausted) {
  // Three different eigenvalues: no start vector reaches beyond three dimensions.
  Vector<double> diagonal = Vector<double>::Constant(20, 5);
  diagonal.head(7).setConstant(-2);
  diagonal(19) = 1;
  const Matrix<double> S = diagonal.asDiagonal();
  const EigenPairs pairs = smallest_of(S, 10, 20);
  ASSERT_EQ(pairs.values.size(), 3);
  const Vector<double> expected = (Vector<double>(3) << -2, 1, 5).finished();
  EXPECT_NEAR((pairs.values - expected).norm(), 0, tolerance(S));
}

TEST(Lanczos, FindsZeroOfTheZeroMatrix) {
  const EigenPairs pairs = smallest_of(Matrix<double>::Zero(5, 5), 2, 5);
  ASSERT_EQ(pairs.values.size(), 1);
  EXPECT_EQ(pairs.values(0), 0);
  EXPECT_NEAR(pairs.vectors.norm(), 1, 10 * kEps);
}

TEST(Lanczos, HandlesOneDimension) {
  const EigenPairs pairs = smallest_of(Matrix<double>::Constant(1, 1, -3), 4, 30);
  ASSERT_EQ(pairs.values.size(), 1);
  EXPECT_NEAR(pairs.values(0), -3, 10 * kEps);
}

TEST(Lanczos, NeverGoesBelowTheSmallestEigenvalue) {
  const Matrix<double> S = random_symmetric(60, 4);
  const double smallest = Eigen::SelfAdjointEigenSolver<Matrix<double>>(S).eigenvalues()(0);
  for (const Index steps : {1, 2, 5, 10, 30})
    EXPECT_GE(smallest_of(S, 1, steps).values(0), smallest - tolerance(S)) << steps;
}

TEST(Lanczos, IsScaleInvariant) {
  const Matrix<double> S = random_symmetric(10, 5);
  const Vector<double> values = smallest_of(S, 10, 10).values;
  for (const double scale : {1e-140, 1e140}) {
    const Vector<double> scaled = smallest_of(scale * S, 10, 10).values / scale;
    EXPECT_NEAR((scaled - values).norm(), 0, tolerance(S)) << scale;
  }
}

double smallest_value_of(const Matrix<double>& S, double tolerance, Index max_steps) {
  Random random(1, testing::kTestStream);
  const auto product = [&](const Vector<double>& x, Vector<double>& y) { y = S * x; };
  return smallest_eigenvalue<double>(S.rows(), product, tolerance, max_steps, random);
}

TEST(SmallestEigenvalue, IsExactWhereTheWholeSpaceIsSearched) {
  for (const Index n : {1, 2, 7, 8, 9, 20}) {
    const Matrix<double> S = random_symmetric(n, 6);
    const double expected = Eigen::SelfAdjointEigenSolver<Matrix<double>>(S).eigenvalues()(0);
    EXPECT_NEAR(smallest_value_of(S, 0, n), expected, tolerance(S)) << n;
  }
}

TEST(SmallestEigenvalue, IsAsCloseAsAskedFor) {
  const Matrix<double> S = random_symmetric(100, 7);
  const double expected = Eigen::SelfAdjointEigenSolver<Matrix<double>>(S).eigenvalues()(0);
  for (const double share : {1e-1, 1e-3, 1e-6})
    EXPECT_NEAR(smallest_value_of(S, share, 100), expected, 2 * share * S.operatorNorm()) << share;
}

TEST(SmallestEigenvalue, FromFewStepsIsRatherTooSmall) {
  // Five steps do not converge: what they may have missed is taken off.
  const Matrix<double> S = random_symmetric(100, 9);
  const double expected = Eigen::SelfAdjointEigenSolver<Matrix<double>>(S).eigenvalues()(0);
  EXPECT_LT(smallest_value_of(S, 1e-6, 5), expected);
}

TEST(SmallestEigenvalue, TakesNoMoreStepsThanAllowed) {
  const Matrix<double> S = random_symmetric(100, 8);
  int products = 0;
  Random random(1, testing::kTestStream);
  smallest_eigenvalue<double>(
      100,
      [&](const Vector<double>& x, Vector<double>& y) {
        ++products;
        y = S * x;
      },
      0, 13, random);
  EXPECT_EQ(products, 13);
}

}  // namespace
}  // namespace udv

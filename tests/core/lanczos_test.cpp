// SPDX-License-Identifier: MIT
#include "core/lanczos.hpp"

#include <gtest/gtest.h>

#include "support/every_scalar.hpp"
#include "support/random_data.hpp"
#include "support/reference.hpp"

namespace udv {
namespace lanczos_test {

using testing::random_rows;

template <typename Scalar = double>
Matrix<Scalar> random_symmetric(Index n, std::uint64_t seed) {
  const Matrix<Scalar> G = random_rows<Scalar>(n, n, seed);
  return G + G.adjoint();
}

template <typename Scalar>
Vector<double> eigenvalues(const Matrix<Scalar>& S) {
  return testing::eigenvalues_of(S);
}

template <typename Scalar>
SymmetricProduct<Scalar> product_with(const Matrix<Scalar>& S) {
  return [&](const Vector<Scalar>& x, Vector<Scalar>& y) { y = testing::product(S, x); };
}

template <typename Scalar>
EigenPairs<Scalar> smallest_of(const Matrix<Scalar>& S, Index count, Index steps) {
  Random random(1, testing::kTestStream);
  return smallest_eigenpairs<Scalar>(S.rows(), product_with(S), count, steps, random);
}

template <typename Scalar>
double smallest_value_of(const Matrix<Scalar>& S, double tolerance, Index max_steps) {
  Random random(1, testing::kTestStream);
  return smallest_eigenvalue<Scalar>(S.rows(), product_with(S), tolerance, max_steps, random);
}

// Full reorthogonalisation: rounding grows with the number of steps at most.
template <typename Scalar>
double tolerance(const Matrix<Scalar>& S) {
  return 10 * kEpsilon<Scalar> * static_cast<double>(S.rows()) * S.norm();
}

template <typename Scalar>
class Lanczos : public ::testing::Test {};
TYPED_TEST_SUITE(Lanczos, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(Lanczos, FindsAllEigenvaluesOfASmallMatrix) {
  const auto S = random_symmetric<TypeParam>(12, 1);
  const auto pairs = smallest_of(S, 12, 12);
  ASSERT_EQ(pairs.values.size(), 12);
  EXPECT_NEAR((pairs.values - eigenvalues(S)).norm(), 0, tolerance(S));
}

TYPED_TEST(Lanczos, ConvergesToTheSmallestPairsOfALargeMatrix) {
  // Two values well below the others, so that 60 steps suffice.
  auto S = random_symmetric<TypeParam>(200, 2);
  S.diagonal().head(2).array() -= TypeParam(300);
  const auto pairs = smallest_of(S, 2, 60);
  EXPECT_NEAR((pairs.values - eigenvalues(S).head(2)).norm(), 0, tolerance(S));
}

TYPED_TEST(Lanczos, GivesUnitEigenvectors) {
  const auto S = random_symmetric<TypeParam>(15, 3);
  const auto pairs = smallest_of(S, 4, 15);
  const Matrix<TypeParam> residual =
      testing::product(S, pairs.vectors) -
      pairs.vectors * pairs.values.template cast<TypeParam>().asDiagonal();
  EXPECT_NEAR(residual.norm(), 0, tolerance(S));
  const Matrix<TypeParam> gram = testing::product(pairs.vectors.adjoint(), pairs.vectors);
  EXPECT_NEAR((gram - Matrix<TypeParam>::Identity(4, 4)).norm(), 0, 150 * kEpsilon<TypeParam>);
}

TYPED_TEST(Lanczos, EndsWhereTheKrylovSpaceIsExhausted) {
  // Three different eigenvalues: no start vector reaches beyond three dimensions.
  Vector<TypeParam> diagonal = Vector<TypeParam>::Constant(20, 5);
  diagonal.head(7).setConstant(-2);
  diagonal(19) = 1;
  const Matrix<TypeParam> S = diagonal.asDiagonal();
  const auto pairs = smallest_of(S, 10, 20);
  ASSERT_EQ(pairs.values.size(), 3);
  const Vector<double> expected = (Vector<double>(3) << -2, 1, 5).finished();
  EXPECT_NEAR((pairs.values - expected).norm(), 0, tolerance(S));
}

TYPED_TEST(Lanczos, FindsZeroOfTheZeroMatrix) {
  const Matrix<TypeParam> S = Matrix<TypeParam>::Zero(5, 5);
  const auto pairs = smallest_of(S, 2, 5);
  ASSERT_EQ(pairs.values.size(), 1);
  EXPECT_EQ(pairs.values(0), 0);
  EXPECT_NEAR(pairs.vectors.norm(), 1, 10 * kEpsilon<TypeParam>);
}

TYPED_TEST(Lanczos, HandlesOneDimension) {
  const Matrix<TypeParam> S = Matrix<TypeParam>::Constant(1, 1, -3);
  const auto pairs = smallest_of(S, 4, 30);
  ASSERT_EQ(pairs.values.size(), 1);
  EXPECT_NEAR(pairs.values(0), -3, 10 * kEpsilon<TypeParam>);
}

TYPED_TEST(Lanczos, NeverGoesBelowTheSmallestEigenvalue) {
  const auto S = random_symmetric<TypeParam>(60, 4);
  const double smallest = eigenvalues(S)(0);
  for (const Index steps : {1, 2, 5, 10, 30})
    EXPECT_GE(smallest_of(S, 1, steps).values(0), smallest - tolerance(S)) << steps;
}

TYPED_TEST(Lanczos, IsScaleInvariant) {
  const auto S = random_symmetric<TypeParam>(10, 5);
  const Vector<double> values = smallest_of(S, 10, 10).values;
  // Squares of entries must not overflow.
  const double large = sizeof(RealOf<TypeParam>) == 4 ? 1e15 : 1e140;
  for (const double scale : {1 / large, large}) {
    const Matrix<TypeParam> scaled = static_cast<RealOf<TypeParam>>(scale) * S;
    const Vector<double> found = smallest_of(scaled, 10, 10).values / scale;
    EXPECT_NEAR((found - values).norm(), 0, tolerance(S)) << scale;
  }
}

TYPED_TEST(Lanczos, SmallestValueIsExactWhereTheWholeSpaceIsSearched) {
  for (const Index n : {1, 2, 7, 8, 9, 20}) {
    const auto S = random_symmetric<TypeParam>(n, 6);
    EXPECT_NEAR(smallest_value_of(S, 0, n), eigenvalues(S)(0), tolerance(S)) << n;
  }
}

TYPED_TEST(Lanczos, SmallestValueIsAsCloseAsAskedFor) {
  const auto S = random_symmetric<TypeParam>(100, 7);
  const Vector<double> all = eigenvalues(S);
  for (const double share : {1e-1, 1e-3, 1e-6})
    EXPECT_NEAR(smallest_value_of(S, share, 100), all(0),
                2 * share * all.cwiseAbs().maxCoeff() + tolerance(S))
        << share;
}

TEST(SmallestEigenvalue, FromFewStepsIsRatherTooSmall) {
  // Five steps do not converge: what they may have missed is taken off.
  const Matrix<double> S = random_symmetric(100, 9);
  EXPECT_LT(smallest_value_of(S, 1e-6, 5), eigenvalues(S)(0));
}

TEST(SmallestEigenvalue, TakesNoMoreStepsThanAllowed) {
  const Matrix<double> S = random_symmetric(100, 8);
  int products = 0;
  Random random(1, testing::kTestStream);
  smallest_eigenvalue<double>(
      100,
      [&](const Vector<double>& x, Vector<double>& y) {
        ++products;
        y = testing::product(S, x);
      },
      0, 13, random);
  EXPECT_EQ(products, 13);
}

}  // namespace lanczos_test
}  // namespace udv

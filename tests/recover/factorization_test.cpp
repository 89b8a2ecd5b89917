// SPDX-License-Identifier: MIT
#include "udv/recover/factors/factorization.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "support/factor_laws.hpp"
#include "support/operator_registry.hpp"

namespace udv {
namespace {

using testing::dense;
using testing::error_of;
using testing::expect_central_difference;
using testing::expect_projection_laws;
using testing::expect_taylor_remainder_shrinks;
using testing::FactorDirection;
using testing::kEps;
using testing::random_rows;
using testing::random_vector;
using testing::random_weights;

constexpr Index kRows = 9, kCols = 7;

Factorization<double> random_factors(const Method& method, Index columns) {
  Stack<double> Z(kRows, method.symmetric ? kRows : kCols, method.symmetric, columns);
  Z.Z = random_rows(Z.Z.rows(), columns, 1);
  const Vector<double> d =
      method.diagonal ? random_weights(columns, 2) : Vector<double>::Ones(columns);
  return Factorization<double>(method, Z, d);
}

RowMatrix<double> product(const Factorization<double>& x) {
  return dense(x.stack().U(), x.d(), x.stack().V());
}

class EveryMethod : public ::testing::TestWithParam<Method> {
 protected:
  const Method& method = method_named(GetParam().name);
  const Factorization<double> x = random_factors(method, 3);
  const testing::OperatorPointer op =
      testing::make_entries(kRows, method.symmetric ? kRows : kCols, method.symmetric, false);
  const Vector<double> b = random_vector(op->num_measurements(), 3);
  const double size = x.stack().Z.squaredNorm() * (1 + x.d().norm());

  FactorDirection direction(Index first_row, Index rows, bool in_d) const {
    FactorDirection along{RowMatrix<double>::Zero(x.stack().Z.rows(), 3), Vector<double>::Zero(3)};
    along.Z.middleRows(first_row, rows) = random_rows(rows, 3, 4);
    if (in_d && method.diagonal) along.d = random_vector(3, 5);
    return along;
  }

  void expect_gradient(const FactorDirection& along) const {
    expect_taylor_remainder_shrinks(*op, b, x, along);
    expect_central_difference(*op, b, x, along);
  }
};

TEST_P(EveryMethod, GradientInUAgreesWithDifferences) {
  expect_gradient(direction(0, kRows, false));
}

TEST_P(EveryMethod, GradientInTheLastRowsAgreesWithDifferences) {
  expect_gradient(direction(x.stack().Z.rows() - 2, 2, false));
}

TEST_P(EveryMethod, GradientInAllFactorsAgreesWithDifferences) {
  expect_gradient(direction(0, x.stack().Z.rows(), true));
}

TEST_P(EveryMethod, GradientInTheWeightsAgreesWithDifferences) {
  Vector<double> residual;
  FactorGradient<double> gradient;
  x.differentiate(*op, b, residual, gradient);
  if (!method.diagonal) {
    EXPECT_TRUE(gradient.d.isZero(0));
    return;
  }
  FactorDirection along = direction(0, 0, true);
  // f is quadratic in d: the remainder is exact, and a central difference is too.
  expect_gradient(along);
}

TEST_P(EveryMethod, WideGradientIsThatOfNarrowParts) {
  // Columns 16 and more take another kernel: compare with the gradient of each part alone.
  const Factorization<double> wide = random_factors(method, 20);
  FactorDirection along{random_rows(wide.stack().Z.rows(), 20, 6), Vector<double>::Zero(20)};
  if (method.diagonal) along.d = random_vector(20, 7);
  expect_taylor_remainder_shrinks(*op, b, wide, along);
}

TEST_P(EveryMethod, ResidualIsThatOfTheMeasurements) {
  Vector<double> residual, y;
  FactorGradient<double> gradient;
  x.differentiate(*op, b, residual, gradient);
  x.measure(*op, y);
  EXPECT_NEAR((residual - (y - b)).norm(), 0, 10 * kEps * (size + b.norm()));
}

TEST_P(EveryMethod, MeasuresTheProductOfItsFactors) {
  Vector<double> y, expected;
  x.measure(*op, y);
  const auto identity = RowMatrix<double>::Identity(op->cols(), op->cols());
  op->apply(product(x), Vector<double>::Ones(op->cols()), identity, expected);
  EXPECT_NEAR((y - expected).norm(), 0, 10 * kEps * size);
}

TEST_P(EveryMethod, SvdReproducesTheProductWithAtMostAsManyValuesAsColumns) {
  const FactoredSvd svd = x.svd();
  const RowMatrix<double>& right = method.symmetric ? svd.U : svd.V;
  EXPECT_NEAR((dense(svd.U, svd.s, right) - product(x)).norm(), 0, 10 * kEps * size);
  EXPECT_LE(svd.s.size(), x.columns());
}

TEST_P(EveryMethod, MagnitudesAreNormsOfTheParts) {
  const Vector<double> magnitudes = x.magnitudes();
  for (Index c = 0; c < 3; ++c) {
    const RowMatrix<double> part =
        x.d()(c) * x.stack().U().col(c) * x.stack().V().col(c).transpose();
    EXPECT_NEAR(magnitudes(c), part.norm(), 10 * kEps * part.norm());
  }
}

TEST_P(EveryMethod, AbsorbingTheWeightsKeepsTheProduct) {
  const Stack<double> Z = x.absorbed();
  const RowMatrix<double> X = Z.U() * Z.V().transpose();
  EXPECT_NEAR((X - product(x)).norm(), 0, 10 * kEps * size);
}

TEST_P(EveryMethod, RemovingColumnsRemovesTheirPartsAlone) {
  Factorization<double> less = x;
  less.remove({1});
  const RowMatrix<double> part = x.d()(1) * x.stack().U().col(1) * x.stack().V().col(1).transpose();
  EXPECT_EQ(less.columns(), 2);
  EXPECT_NEAR((product(less) - (product(x) - part)).norm(), 0, 10 * kEps * size);
}

TEST_P(EveryMethod, StepsAlongTheNegativeGradient) {
  FactorGradient<double> gradient{random_rows(x.stack().Z.rows(), 3, 8), random_vector(3, 9)};
  Factorization<double> next = x;
  next.take_step(gradient, 0.25);
  EXPECT_EQ(next.stack().Z, x.stack().Z - 0.25 * gradient.Z);
  const Vector<double> expected = x.d() - 0.25 * gradient.d;
  EXPECT_EQ(next.d(), method.diagonal ? expected : x.d());
}

TEST_P(EveryMethod, StartsWithFactorsOfTheWantedNorm) {
  const Factorization<double> start(method, kRows, kCols, 4, 0.3, 5);
  EXPECT_NEAR(start.stack().U().norm(), 0.3, 10 * kEps);
  EXPECT_NEAR(start.stack().V().norm(), 0.3, 10 * kEps);
  EXPECT_EQ(start.d(), Vector<double>::Ones(4));
  EXPECT_EQ(start.norm_u(), start.stack().U().norm());
}

TEST_P(EveryMethod, StartsFromTheSeed) {
  const Factorization<double> one(method, kRows, kCols, 4, 1, 5);
  const Factorization<double> same(method, kRows, kCols, 4, 1, 5);
  const Factorization<double> other(method, kRows, kCols, 4, 1, 6);
  EXPECT_EQ(one.stack().Z, same.stack().Z);
  EXPECT_NE(one.stack().Z, other.stack().Z);
}

TEST_P(EveryMethod, ProjectsOntoItsSet) {
  Factorization<double> outside = x;
  outside.take_step({RowMatrix<double>::Zero(x.stack().Z.rows(), 3), random_vector(3, 10)}, 2);
  if (method.diagonal) {
    expect_projection_laws(outside, 1.0);
    EXPECT_TRUE(outside.project(1.0));
  } else {
    EXPECT_FALSE(outside.project(1.0));
    EXPECT_EQ(outside.stack().Z, x.stack().Z);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryMethod, ::testing::ValuesIn(methods()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Factorization, BallOfEitherFactorMayBind) {
  Stack<double> Z(3, 3, false, 1);
  Z.V().setConstant(1);
  Factorization<double> x(method_named("udv"), Z, Vector<double>::Ones(1));
  EXPECT_TRUE(x.project(1));
  EXPECT_NEAR(x.stack().V().norm(), 1, 10 * kEps);
  EXPECT_FALSE(x.project(1.1));
}

TEST(Factorization, RefusesWeightsThatDoNotFitTheColumns) {
  EXPECT_EQ(error_of([] {
              Factorization<double>(method_named("udu"), Stack<double>(4, 4, true, 3),
                                    Vector<double>::Ones(2));
            }),
            "factorization: U has 3 columns, d has 2 entries");
}

TEST(Methods, AreFoundByName) {
  for (const Method& method : methods()) EXPECT_EQ(&method_named(method.name), &method);
}

TEST(Methods, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(error_of([] { method_named("svd"); }),
            "method 'svd' found, one of bm, udu, uv, udv expected");
}

}  // namespace
}  // namespace udv

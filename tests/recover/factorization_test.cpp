// SPDX-License-Identifier: MIT
#include "udv/recover/factors/factorization.hpp"

#include <gtest/gtest.h>

#include "support/every_scalar.hpp"
#include "support/factor_laws.hpp"
#include "support/operator_laws.hpp"
#include "support/operator_registry.hpp"

namespace udv {
namespace factorization_test {

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

template <typename Scalar>
Factorization<Scalar> random_factors(const Method& method, Index columns) {
  StackedFactors<Scalar> Z(kRows, method.symmetric ? kRows : kCols, method.symmetric, columns);
  Z.Z = random_rows<Scalar>(Z.Z.rows(), columns, 1);
  const Reals<Scalar> d =
      method.diagonal ? random_weights<RealOf<Scalar>>(columns, 2) : Reals<Scalar>::Ones(columns);
  return Factorization<Scalar>(method, Z, d);
}

template <typename Scalar>
RowMatrix<Scalar> product(const Factorization<Scalar>& x) {
  return dense(x.stack().U(), x.d(), x.stack().V());
}

/// d_c u_c v_c^*
template <typename Scalar>
RowMatrix<Scalar> part(const Factorization<Scalar>& x, Index c) {
  return testing::product(x.d()(c) * x.stack().U().col(c), x.stack().V().col(c).adjoint());
}

/// Three random columns and measurements that they do not fit.
template <typename Scalar>
struct MethodCase {
  explicit MethodCase(const Method& of) : method(of) {}

  const Method& method;
  const Factorization<Scalar> x = random_factors<Scalar>(method, 3);
  const testing::SharedOperator<Scalar> op = testing::make_entries<Scalar>(
      kRows, method.symmetric ? kRows : kCols, method.symmetric, false);
  const Reals<Scalar> b = random_vector<RealOf<Scalar>>(op->num_measurements(), 3);
  const double size = x.stack().Z.squaredNorm() * (1 + x.d().norm());
  const double tolerance = 10 * kEpsilon<Scalar> * size;

  FactorDirection<Scalar> direction(Index first_row, Index rows, bool in_d) const {
    FactorDirection<Scalar> along{RowMatrix<Scalar>::Zero(x.stack().Z.rows(), 3),
                                  Reals<Scalar>::Zero(3)};
    along.Z.middleRows(first_row, rows) = random_rows<Scalar>(rows, 3, 4);
    if (in_d && method.diagonal) along.d = random_vector<RealOf<Scalar>>(3, 5);
    return along;
  }

  void expect_gradient(const FactorDirection<Scalar>& along) const {
    expect_taylor_remainder_shrinks(*op, b, x, along);
    expect_central_difference(*op, b, x, along);
  }
};

template <typename Scalar>
class EveryMethod : public ::testing::Test {
 protected:
  template <typename Law>
  void expect(const Law& law) const {
    for (const Method& method : methods()) {
      SCOPED_TRACE(method.name);
      law(MethodCase<Scalar>(method));
    }
  }
};
TYPED_TEST_SUITE(EveryMethod, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(EveryMethod, GradientInUAgreesWithDifferences) {
  this->expect([](const auto& at) { at.expect_gradient(at.direction(0, kRows, false)); });
}

TYPED_TEST(EveryMethod, GradientInTheLastRowsAgreesWithDifferences) {
  this->expect([](const auto& at) {
    at.expect_gradient(at.direction(at.x.stack().Z.rows() - 2, 2, false));
  });
}

TYPED_TEST(EveryMethod, GradientInAllFactorsAgreesWithDifferences) {
  this->expect(
      [](const auto& at) { at.expect_gradient(at.direction(0, at.x.stack().Z.rows(), true)); });
}

TYPED_TEST(EveryMethod, GradientInRealAndImaginaryPartsAgreesWithDifferences) {
  if constexpr (kIsComplex<TypeParam>) {
    this->expect([](const auto& at) {
      FactorDirection<TypeParam> along = at.direction(0, at.x.stack().Z.rows(), false);
      along.Z = along.Z.real().template cast<TypeParam>();
      at.expect_gradient(along);
      along.Z *= TypeParam(0, 1);
      at.expect_gradient(along);
    });
  }
}

TYPED_TEST(EveryMethod, GradientInTheWeightsAgreesWithDifferences) {
  this->expect([](const auto& at) {
    Reals<TypeParam> residual;
    FactorGradient<TypeParam> gradient;
    at.x.differentiate(*at.op, at.b, residual, gradient);
    // f is quadratic in d: the remainder is exact, and a central difference is too.
    if (at.method.diagonal)
      at.expect_gradient(at.direction(0, 0, true));
    else
      EXPECT_TRUE(gradient.d.isZero(0));
  });
}

TYPED_TEST(EveryMethod, WideGradientAgreesWithDifferences) {
  // Columns 16 and more take another kernel.
  this->expect([](const auto& at) {
    const auto wide = random_factors<TypeParam>(at.method, 20);
    FactorDirection<TypeParam> along{random_rows<TypeParam>(wide.stack().Z.rows(), 20, 6),
                                     Reals<TypeParam>::Zero(20)};
    if (at.method.diagonal) along.d = random_vector<RealOf<TypeParam>>(20, 7);
    expect_taylor_remainder_shrinks(*at.op, at.b, wide, along);
    expect_central_difference(*at.op, at.b, wide, along);
  });
}

TYPED_TEST(EveryMethod, ResidualIsThatOfTheMeasurements) {
  this->expect([](const auto& at) {
    Reals<TypeParam> residual, y;
    FactorGradient<TypeParam> gradient;
    at.x.differentiate(*at.op, at.b, residual, gradient);
    at.x.measure(*at.op, y);
    const double size = at.size + at.b.norm();
    EXPECT_NEAR((residual - (y - at.b)).norm(), 0, 10 * kEpsilon<TypeParam> * size);
  });
}

TYPED_TEST(EveryMethod, MeasuresTheProductOfItsFactors) {
  this->expect([](const auto& at) {
    Reals<TypeParam> y;
    at.x.measure(*at.op, y);
    EXPECT_NEAR((y - testing::measured(*at.op, product(at.x))).norm(), 0, at.tolerance);
  });
}

TYPED_TEST(EveryMethod, SvdReproducesTheProductWithAtMostAsManyValuesAsColumns) {
  this->expect([](const auto& at) {
    const FactoredSvd<TypeParam> svd = at.x.svd();
    const RowMatrix<TypeParam>& right = at.method.symmetric ? svd.U : svd.V;
    EXPECT_NEAR((dense(svd.U, svd.s, right) - product(at.x)).norm(), 0, at.tolerance);
    EXPECT_LE(svd.s.size(), at.x.columns());
  });
}

TYPED_TEST(EveryMethod, MagnitudesAreNormsOfTheParts) {
  this->expect([](const auto& at) {
    const Vector<double> magnitudes = at.x.magnitudes();
    for (Index c = 0; c < 3; ++c) {
      const double expected = part(at.x, c).norm();
      EXPECT_NEAR(magnitudes(c), expected, 10 * kEpsilon<TypeParam> * expected);
    }
  });
}

TYPED_TEST(EveryMethod, AbsorbingTheWeightsKeepsTheProduct) {
  this->expect([](const auto& at) {
    const StackedFactors<TypeParam> Z = at.x.absorbed();
    const RowMatrix<TypeParam> X = testing::product(Z.U(), Z.V().adjoint());
    EXPECT_NEAR((X - product(at.x)).norm(), 0, at.tolerance);
  });
}

TYPED_TEST(EveryMethod, RemovingColumnsRemovesTheirPartsAlone) {
  this->expect([](const auto& at) {
    Factorization<TypeParam> less = at.x;
    less.remove({1});
    EXPECT_EQ(less.columns(), 2);
    EXPECT_NEAR((product(less) - (product(at.x) - part(at.x, 1))).norm(), 0, at.tolerance);
  });
}

TYPED_TEST(EveryMethod, StepsAlongTheNegativeGradient) {
  this->expect([](const auto& at) {
    using Real = RealOf<TypeParam>;
    const FactorGradient<TypeParam> gradient{random_rows<TypeParam>(at.x.stack().Z.rows(), 3, 8),
                                             random_vector<Real>(3, 9)};
    Factorization<TypeParam> next = at.x;
    next.take_step(gradient, 0.25);
    EXPECT_EQ(next.stack().Z, at.x.stack().Z - Real(0.25) * gradient.Z);
    const Reals<TypeParam> expected = at.x.d() - Real(0.25) * gradient.d;
    EXPECT_EQ(next.d(), at.method.diagonal ? expected : at.x.d());
  });
}

TYPED_TEST(EveryMethod, StartsWithFactorsOfTheWantedNorm) {
  this->expect([](const auto& at) {
    const Factorization<TypeParam> start(at.method, kRows, kCols, 4, 0.3, 5);
    EXPECT_NEAR(start.stack().U().norm(), 0.3, 10 * kEpsilon<TypeParam>);
    EXPECT_NEAR(start.stack().V().norm(), 0.3, 10 * kEpsilon<TypeParam>);
    EXPECT_EQ(start.d(), Reals<TypeParam>::Ones(4));
    EXPECT_EQ(start.norm_u(), start.stack().U().norm());
  });
}

TYPED_TEST(EveryMethod, StartsFromTheSeed) {
  this->expect([](const auto& at) {
    const auto start = [&](std::uint64_t seed) {
      return Factorization<TypeParam>(at.method, kRows, kCols, 4, 1, seed).stack().Z;
    };
    EXPECT_EQ(start(5), start(5));
    EXPECT_NE(start(5), start(6));
  });
}

TYPED_TEST(EveryMethod, ProjectsOntoItsSet) {
  this->expect([](const auto& at) {
    Factorization<TypeParam> outside = at.x;
    outside.take_step({RowMatrix<TypeParam>::Zero(at.x.stack().Z.rows(), 3),
                       random_vector<RealOf<TypeParam>>(3, 10)},
                      2);
    if (at.method.diagonal) {
      expect_projection_laws(outside, 1.0);
      EXPECT_TRUE(outside.project(1.0));
    } else {
      EXPECT_FALSE(outside.project(1.0));
      EXPECT_EQ(outside.stack().Z, at.x.stack().Z);
    }
  });
}

TEST(Factorization, BallOfEitherFactorMayBind) {
  StackedFactors<double> Z(3, 3, false, 1);
  Z.V().setConstant(1);
  Factorization<double> x(method_named("udv"), Z, Vector<double>::Ones(1));
  EXPECT_TRUE(x.project(1));
  EXPECT_NEAR(x.stack().V().norm(), 1, 10 * kEps);
  EXPECT_FALSE(x.project(1.1));
}

TEST(Factorization, RefusesWeightsThatDoNotFitTheColumns) {
  EXPECT_EQ(error_of([] {
              Factorization<double>(method_named("udu"), StackedFactors<double>(4, 4, true, 3),
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

}  // namespace factorization_test
}  // namespace udv

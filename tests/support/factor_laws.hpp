// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"
#include "udv/recover/factors/factorization.hpp"

/// The laws of a factorization, one call each.
namespace udv::testing {

/// A direction in (U, V) stacked and d.
template <typename Scalar>
struct FactorDirection {
  RowMatrix<Scalar> Z;
  Reals<Scalar> d;
};

template <typename Scalar>
Factorization<Scalar> moved(const Factorization<Scalar>& x, const FactorDirection<Scalar>& along,
                            double length) {
  StackedFactors<Scalar> stack = x.stack();
  const auto step = static_cast<RealOf<Scalar>>(length);
  stack.Z += step * along.Z;
  return Factorization<Scalar>(x.method(), stack, x.d() + step * along.d);
}

template <typename Scalar>
double objective(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                 const Factorization<Scalar>& x) {
  Reals<Scalar> y;
  x.measure(op, y);
  return 0.5 * (y - b).squaredNorm();
}

template <typename Scalar>
double slope(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
             const Factorization<Scalar>& x, const FactorDirection<Scalar>& along) {
  Reals<Scalar> residual;
  FactorGradient<Scalar> gradient;
  x.differentiate(op, b, residual, gradient);
  return inner(gradient.Z, along.Z) + inner(gradient.d, along.d);
}

/// |f(x + h p) - f(x) - h <grad f, p>| = O(h^2): a quarter when h is halved. In double precision:
/// in single there is no h for which rounding and the third order are both small.
template <typename Scalar>
void expect_taylor_remainder_shrinks(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                     const Factorization<Scalar>& x,
                                     const FactorDirection<Scalar>& along) {
  if (sizeof(RealOf<Scalar>) < sizeof(double)) return;
  const double here = objective(op, b, x), gradient = slope(op, b, x, along);
  const auto remainder = [&](double h) {
    return std::abs(objective(op, b, moved(x, along, h)) - here - h * gradient);
  };
  // The third-order term changes the ratio by some h, rounding by some eps / h^2.
  EXPECT_NEAR(remainder(1e-3) / remainder(5e-4), 4, 0.05);
}

/// The gradient is the central difference, up to eps^(2/3) where h = eps^(1/3).
template <typename Scalar>
void expect_central_difference(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                               const Factorization<Scalar>& x,
                               const FactorDirection<Scalar>& along) {
  const double h = std::cbrt(kEpsilon<Scalar>);
  const double ahead = objective(op, b, moved(x, along, h));
  const double behind = objective(op, b, moved(x, along, -h));
  const double gradient = slope(op, b, x, along);
  EXPECT_NEAR((ahead - behind) / (2 * h), gradient, 100 * h * h * (ahead + std::abs(gradient)));
}

/// A projection may be repeated, gives a feasible point, and no feasible point is nearer.
template <typename Scalar>
void expect_projection_laws(const Factorization<Scalar>& x, double alpha) {
  Factorization<Scalar> projected = x;
  projected.project(alpha);
  const auto distance = [&](const Factorization<Scalar>& other) {
    return std::hypot((x.stack().Z - other.stack().Z).norm(), (x.d() - other.d()).norm());
  };
  // A norm of some hundred entries and one multiplication round.
  const double tolerance = 100 * kEpsilon<Scalar> * alpha;
  EXPECT_LE(projected.stack().U().norm(), alpha + tolerance);
  EXPECT_LE(projected.stack().V().norm(), alpha + tolerance);
  EXPECT_GE(projected.d().minCoeff(), 0);
  Factorization<Scalar> twice = projected;
  twice.project(alpha);
  EXPECT_NEAR((twice.stack().Z - projected.stack().Z).norm(), 0, tolerance);
  EXPECT_EQ(twice.d(), projected.d());
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RowMatrix<Scalar>& Z = x.stack().Z;
    const FactorDirection<Scalar> nearby{random_rows<Scalar>(Z.rows(), Z.cols(), 100 + seed),
                                         random_vector<RealOf<Scalar>>(Z.cols(), 300 + seed)};
    Factorization<Scalar> other = moved(projected, nearby, 0.1);
    other.project(alpha);
    EXPECT_LE(distance(projected), distance(other)) << "seed " << seed;
  }
}

}  // namespace udv::testing

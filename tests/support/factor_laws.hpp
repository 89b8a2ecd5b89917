// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"
#include "udv/recover/factors/factorization.hpp"

/// The laws of a factorization, one call each.
namespace udv::testing {

/// A direction in (U, V) stacked and d.
struct FactorDirection {
  RowMatrix<double> Z;
  Vector<double> d;
};

inline Factorization<double> moved(const Factorization<double>& x, const FactorDirection& along,
                                   double length) {
  Stack<double> stack = x.stack();
  stack.Z += length * along.Z;
  return Factorization<double>(x.method(), stack, x.d() + length * along.d);
}

inline double objective(const MeasurementOperator<double>& op, const Vector<double>& b,
                        const Factorization<double>& x) {
  Vector<double> y;
  x.measure(op, y);
  return 0.5 * (y - b).squaredNorm();
}

inline double slope(const MeasurementOperator<double>& op, const Vector<double>& b,
                    const Factorization<double>& x, const FactorDirection& along) {
  Vector<double> residual;
  FactorGradient<double> gradient;
  x.differentiate(op, b, residual, gradient);
  return gradient.Z.cwiseProduct(along.Z).sum() + gradient.d.dot(along.d);
}

/// |f(x + h p) - f(x) - h <grad f, p>| = O(h^2): a quarter when h is halved.
inline void expect_taylor_remainder_shrinks(const MeasurementOperator<double>& op,
                                            const Vector<double>& b, const Factorization<double>& x,
                                            const FactorDirection& along) {
  const double here = objective(op, b, x), gradient = slope(op, b, x, along);
  const auto remainder = [&](double h) {
    return std::abs(objective(op, b, moved(x, along, h)) - here - h * gradient);
  };
  // The third-order term changes the ratio by some h, rounding by some eps / h^2.
  EXPECT_NEAR(remainder(1e-3) / remainder(5e-4), 4, 0.05);
}

/// The gradient is the central difference, up to eps^(2/3) where h = eps^(1/3).
inline void expect_central_difference(const MeasurementOperator<double>& op,
                                      const Vector<double>& b, const Factorization<double>& x,
                                      const FactorDirection& along) {
  const double h = std::cbrt(kEps);
  const double ahead = objective(op, b, moved(x, along, h));
  const double behind = objective(op, b, moved(x, along, -h));
  const double gradient = slope(op, b, x, along);
  EXPECT_NEAR((ahead - behind) / (2 * h), gradient, 100 * h * h * (ahead + std::abs(gradient)));
}

/// A projection may be repeated, gives a feasible point, and no feasible point is nearer.
inline void expect_projection_laws(const Factorization<double>& x, double alpha) {
  Factorization<double> projected = x;
  projected.project(alpha);
  const auto distance = [&](const Factorization<double>& other) {
    return std::hypot((x.stack().Z - other.stack().Z).norm(), (x.d() - other.d()).norm());
  };
  // A norm of some hundred entries and one multiplication round.
  const double tolerance = 100 * kEps * alpha;
  EXPECT_LE(projected.stack().U().norm(), alpha + tolerance);
  EXPECT_LE(projected.stack().V().norm(), alpha + tolerance);
  EXPECT_GE(projected.d().minCoeff(), 0);
  Factorization<double> twice = projected;
  twice.project(alpha);
  EXPECT_NEAR((twice.stack().Z - projected.stack().Z).norm(), 0, tolerance);
  EXPECT_EQ(twice.d(), projected.d());
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RowMatrix<double>& Z = x.stack().Z;
    const FactorDirection nearby{random_rows(Z.rows(), Z.cols(), 100 + seed),
                                 random_vector(Z.cols(), 300 + seed)};
    Factorization<double> other = moved(projected, nearby, 0.1);
    other.project(alpha);
    EXPECT_LE(distance(projected), distance(other)) << "seed " << seed;
  }
}

}  // namespace udv::testing

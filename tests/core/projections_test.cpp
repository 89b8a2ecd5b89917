// SPDX-License-Identifier: MIT
#include "core/projections.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"

namespace udv {
namespace projections_test {

using testing::kEps;
using testing::random_rows;
using testing::random_vector;

constexpr double kRadius = 1.5;

TEST(FrobeniusBall, KeepsWhatLiesInside) {
  RowMatrix<double> U = random_rows(5, 3, 1);
  U *= 0.99 * kRadius / U.norm();
  const RowMatrix<double> before = U;
  EXPECT_FALSE(project_frobenius_ball(U, kRadius));
  EXPECT_EQ(U, before);
}

TEST(FrobeniusBall, ScalesWhatLiesOutsideToTheRadius) {
  RowMatrix<double> U = random_rows(5, 3, 2);
  const RowMatrix<double> direction = U / U.norm();
  U = 7 * direction;
  EXPECT_TRUE(project_frobenius_ball(U, kRadius));
  // One multiplication and a norm of 15 terms.
  EXPECT_NEAR((U - kRadius * direction).norm(), 0, 15 * kEps * kRadius);
}

TEST(FrobeniusBall, IsIdempotent) {
  RowMatrix<double> U = 10 * random_rows(20, 4, 3);
  project_frobenius_ball(U, kRadius);
  const RowMatrix<double> once = U;
  project_frobenius_ball(U, kRadius);
  EXPECT_NEAR((U - once).norm(), 0, 80 * kEps * kRadius);
}

TEST(FrobeniusBall, IsNoFartherThanAnyOtherPointOfTheBall) {
  const RowMatrix<double> U = 2 * random_rows(5, 3, 4);
  RowMatrix<double> projected = U;
  project_frobenius_ball(projected, kRadius);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RowMatrix<double> other = projected + 0.3 * random_rows(5, 3, 100 + seed);
    other *= std::min(1.0, kRadius / other.norm());
    EXPECT_LE((U - projected).norm(), (U - other).norm()) << "seed " << seed;
  }
}

TEST(FrobeniusBall, ActsOnABlockOfRowsInPlace) {
  RowMatrix<double> Z = RowMatrix<double>::Constant(4, 1, 3);
  project_frobenius_ball(Z.topRows(2), 3 * std::sqrt(2.0) / 3);
  EXPECT_NEAR((Z - (RowMatrix<double>(4, 1) << 1, 1, 3, 3).finished()).norm(), 0, 10 * kEps);
}

TEST(Nonnegative, CutsNegativeEntriesAndKeepsTheOthers) {
  Vector<double> d(4);
  d << -1, 0, 2, -1e-300;
  project_nonnegative(d);
  EXPECT_EQ(d, (Vector<double>(4) << 0, 0, 2, 0).finished());
}

TEST(Nonnegative, IsNoFartherThanAnyOtherNonnegativeVector) {
  const Vector<double> d = random_vector(6, 5);
  Vector<double> projected = d;
  project_nonnegative(projected);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Vector<double> other = (projected + 0.2 * random_vector(6, 200 + seed)).cwiseAbs();
    EXPECT_LE((d - projected).norm(), (d - other).norm()) << "seed " << seed;
  }
}

}  // namespace projections_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "recover/solver/balance.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"

namespace udv {
namespace balance_test {

using testing::kEps;
using testing::random_rows;

StackedFactors<double> random_stack(bool symmetric, Index rank) {
  StackedFactors<double> Z(8, symmetric ? 8 : 6, symmetric, rank);
  Z.Z = random_rows(Z.Z.rows(), rank, 1);
  if (!symmetric) Z.U() *= 100;
  return Z;
}

RowMatrix<double> product(const StackedFactors<double>& Z) {
  return testing::product(Z.U(), Z.V().transpose());
}

class Balanced : public ::testing::TestWithParam<bool> {
 protected:
  const StackedFactors<double> Z = random_stack(GetParam(), 4);
  const StackedFactors<double> even = balanced(Z);
  const double size = Z.U().norm() * Z.V().norm();
};

TEST_P(Balanced, KeepsTheProduct) {
  EXPECT_NEAR((product(even) - product(Z)).norm(), 0, 100 * kEps * size);
}

TEST_P(Balanced, HasOrthogonalColumnsEquallyLongOnBothSidesLargestFirst) {
  const Matrix<double> of_u = testing::product(even.U().transpose(), even.U());
  const Matrix<double> of_v = testing::product(even.V().transpose(), even.V());
  const Vector<double> squares = of_u.diagonal();
  EXPECT_NEAR((of_u - of_v).norm(), 0, 100 * kEps * size);
  EXPECT_NEAR((of_u - Matrix<double>(squares.asDiagonal())).norm(), 0, 100 * kEps * size);
  EXPECT_TRUE(std::is_sorted(squares.begin(), squares.end(), std::greater<>()));
}

TEST_P(Balanced, OfNoColumnsHasNone) {
  const StackedFactors<double> none = balanced(random_stack(GetParam(), 0));
  EXPECT_EQ(none.rank(), 0);
  EXPECT_EQ(none.Z.rows(), Z.Z.rows());
}

INSTANTIATE_TEST_SUITE_P(Both, Balanced, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "symmetric" : "rectangular"; });

TEST(Balanced, OfMoreColumnsThanRowsHasAsManyAsTheRank) {
  const StackedFactors<double> Z = random_stack(false, 20);
  const StackedFactors<double> even = balanced(Z);
  EXPECT_EQ(even.rank(), 6);
  EXPECT_NEAR((product(even) - product(Z)).norm(), 0, 100 * kEps * Z.U().norm() * Z.V().norm());
}

TEST(LeadingColumns, AreTheFirstOnesOrAll) {
  const StackedFactors<double> Z = random_stack(false, 3);
  EXPECT_EQ(leading_columns(Z, 2).Z, Z.Z.leftCols(2));
  EXPECT_EQ(leading_columns(Z, 9).Z, Z.Z);
  EXPECT_EQ(leading_columns(Z, 0).rank(), 0);
}

TEST(SignificantColumns, AreCountedBySingularValues) {
  StackedFactors<double> Z(4, 4, true, 3);
  Z.Z(0, 0) = 1;     // singular value 1
  Z.Z(1, 1) = 1e-2;  // 1e-4
  Z.Z(2, 2) = 1e-4;  // 1e-8
  EXPECT_EQ(significant_columns(Z, 1e-6), 2);
  EXPECT_EQ(significant_columns(Z, 1e-3), 1);
  EXPECT_EQ(significant_columns(Z, 1e-9), 3);
}

}  // namespace balance_test
}  // namespace udv

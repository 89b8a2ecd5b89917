// SPDX-License-Identifier: MIT
#include "recover/solver/gram_svd.hpp"

#include <gtest/gtest.h>

#include "support/thread_team.hpp"
#include "udv/core/random.hpp"
#include "udv/core/spectrum.hpp"

namespace udv {
namespace gram_svd_test {

RowMatrix<double> some_columns(Index lines, std::uint64_t stream) {
  RowMatrix<double> X(lines, 3);
  Random(1, stream).fill_normal(X);
  X.col(1) += 2 * X.col(0);
  X.col(2) *= 0.1;
  return X;
}

const Index kRows = 70'000, kCols = 66'000;
const Vector<double> kSizes = Vector<double>::LinSpaced(3, 1, 3);

TEST(GramSvd, IsThatOfTheFactors) {
  const RowMatrix<double> U = some_columns(kRows, 2), V = some_columns(kCols, 3);
  const auto svd = gram_svd(U, kSizes, V);
  ASSERT_TRUE(svd);
  const auto expected = factored_svd<double>(U, kSizes, V);
  EXPECT_LT((svd->s - expected.s).norm(), 1e-12 * expected.s(0));
  const RowMatrix<double> left = U * svd->left, right = V * svd->right;
  const Matrix<double> one = Matrix<double>::Identity(3, 3);
  EXPECT_LT((left.transpose() * left - one).norm(), 1e-12);
  EXPECT_LT((right.transpose() * right - one).norm(), 1e-12);
  const Vector<double> row = U.row(7).cwiseProduct(kSizes.transpose()) * V.topRows(50).transpose();
  const Vector<double> same =
      left.row(7).cwiseProduct(svd->s.transpose()) * right.topRows(50).transpose();
  EXPECT_LT((row - same).norm(), 1e-10 * row.norm());
}

TEST(GramSvd, LeavesDependentColumnsAndFewLinesToOthers) {
  RowMatrix<double> U = some_columns(kRows, 2), V = some_columns(kCols, 3);
  EXPECT_FALSE(gram_svd(U.topRows(1000), kSizes, V));
  U.col(2) = U.col(0) + 1e-6 * U.col(2);
  EXPECT_FALSE(gram_svd(U, kSizes, V));
}

TEST(GramSvd, HasTheBitsOfOneProcess) {
  const RowMatrix<double> U = some_columns(kRows, 2), V = some_columns(kCols, 3);
  const auto alone = gram_svd(U, kSizes, V);
  RowMatrix<double> expected = U;
  multiply_shared(expected, alone->left);
  test::ThreadTeam::run(3, [&] {
    const auto shared = gram_svd(U, kSizes, V);
    RowMatrix<double> product = U;
    multiply_shared(product, shared->left);
    EXPECT_EQ(shared->s, alone->s);
    EXPECT_EQ(shared->right, alone->right);
    EXPECT_EQ(product, expected);
  });
}

}  // namespace gram_svd_test
}  // namespace udv

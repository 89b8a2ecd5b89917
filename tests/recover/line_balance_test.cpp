// SPDX-License-Identifier: MIT
#include "recover/solver/line_balance.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace line_balance_test {

// u_i v_j + noise at 20 places of each row, Gaussian factors.
Entries sparse_entries(Index lines, Index rank, double noise, std::uint64_t seed) {
  Random random(seed, 1);
  RowMatrix<double> U(lines, rank), V(lines, rank);
  random.fill_normal(U);
  random.fill_normal(V);
  Entries entries{lines, lines, false, {}, {}, {}};
  for (Index i = 0; i < lines; ++i)
    for (Index t = 0; t < 20; ++t) {
      const Index j = (random.below(lines / 20) * 20 + t) % lines;
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(static_cast<std::int32_t>(j));
      entries.value.push_back(U.row(i).dot(V.row(j)) + noise * random.normal());
    }
  return entries;
}

TEST(FallsOnFewLines, TellsSingleLinesFromAll) {
  RowMatrix<double> X(1000, 2);
  Random(1, 1).fill_normal(X);
  EXPECT_FALSE(falls_on_few_lines(X));
  X.col(1).setZero();
  X(7, 1) = 3;
  EXPECT_TRUE(falls_on_few_lines(X));
}

TEST(LineBalance, GivesUnitVectorsInTheUnitsOfTheResidual) {
  const Entries entries = sparse_entries(400, 1, 0, 1);
  const EntriesOperator<double> op(entries);
  const Vector<double> z = Eigen::Map<const Vector<double>>(entries.value.data(), entries.size());
  const LineBalance balance(op, z);
  const Vector<double> balanced = balance.balanced(op, z);
  EXPECT_TRUE((balanced.cwiseAbs().array() <= z.cwiseAbs().array()).all());
  EXPECT_LT(balanced.norm(), z.norm());
  TeamColumns U(400, 1), V(400, 1);
  U.all().setOnes();
  V.all().setOnes();
  balance.undo(U, V);
  EXPECT_NEAR(U.all().norm(), 1, 1e-12);
  EXPECT_GE(U.all().minCoeff(), 0);
}

// Leading directions of the residual are its heaviest rows here; the answer used to be "nothing
// but noise" for some seeds.
TEST(Recover, FindsTheRankOfSparseEntriesWithHeavyLines) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Recovery found = recover(completion(sparse_entries(6000, 2, 0.14, seed)));
    EXPECT_EQ(found.rank, 2) << seed;
    EXPECT_NEAR(found.noise_sigma, 0.14, 0.01) << seed;
  }
}

}  // namespace line_balance_test
}  // namespace udv

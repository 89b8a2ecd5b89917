// SPDX-License-Identifier: MIT
#include "recover/solver/line_consensus.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/planted_problems.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace line_consensus_test {

using testing::completed;

constexpr double kNoise = 0.01 * M_SQRT2;  // entries of rank 2 have a standard deviation of sqrt(2)
constexpr double kErrors = 10 * M_SQRT2;

/// A planted matrix of rank 2 of which all entries of row 0 but the first `right` are errors.
struct BadRow {
  Planted planted;
  std::vector<Index> row;  ///< numbers of the entries of row 0

  explicit BadRow(Index right, std::uint64_t seed = 1)
      : planted(completed(40, 30, false, 2, 6, 1, 0.01, seed)) {
    Random random(seed, testing::kTestStream);
    Entries& entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t) {
      if (entries.row[t] != 0) continue;
      row.push_back(static_cast<Index>(t));
      if (static_cast<Index>(row.size()) > right) entries.value[t] = kErrors * random.normal();
    }
  }

  EntriesOperator<double> op() const { return EntriesOperator<double>(planted.entries); }
  Vector<double> b() const {
    return Eigen::Map<const Vector<double>>(planted.entries.value.data(), planted.entries.size());
  }
  /// The truth but for row 0.
  StackedFactors<double> start() const {
    StackedFactors<double> Z(40, 30, false, 2);
    Z.U() = planted.U;
    Z.V() = planted.V;
    Z.U().row(0).setConstant(50);
    return Z;
  }
};

TEST(LostLines, GetTheirMostProbableFactors) {
  const BadRow data(5);
  const EntriesOperator<double> op = data.op().restricted(data.row);
  StackedFactors<double> Z = data.start();
  guess_lines<double>(op, data.b()(data.row), {kNoise, kErrors}, 0, Z);
  const Vector<double> moved = Z.U().row(0) - data.planted.U.row(0);
  EXPECT_LT(moved.norm(), 0.05);
  EXPECT_EQ(Z.U().bottomRows(39), data.planted.U.bottomRows(39));
  EXPECT_EQ(Z.V(), data.planted.V);
}

TEST(LostLines, OfErrorsAloneStayAsTheyAre) {
  const BadRow data(0);
  StackedFactors<double> Z = data.start();
  guess_lines<double>(data.op().restricted(data.row), data.b()(data.row), {kNoise, kErrors}, 0, Z);
  EXPECT_EQ(Z.Z, data.start().Z);
}

TEST(DoubtfulLines, WithAClearMinorityAreRepaired) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const BadRow data(6, seed);
    ASSERT_GT(data.row.size(), 12u);
    StackedFactors<double> Z = data.start();
    EXPECT_TRUE(judge_doubtful_lines<double>(data.op(), data.b(), {kNoise, kErrors}, 0, Z).empty());
    const Vector<double> moved = Z.U().row(0) - data.planted.U.row(0);
    EXPECT_LT(moved.norm(), 0.05) << seed;
    EXPECT_EQ(Z.U().bottomRows(39), data.planted.U.bottomRows(39));
    EXPECT_EQ(Z.V(), data.planted.V);
  }
}

TEST(DoubtfulLines, WithoutRightEntriesAreUnknown) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const BadRow data(0, seed);
    StackedFactors<double> Z = data.start();
    EXPECT_EQ(judge_doubtful_lines<double>(data.op(), data.b(), {kNoise, kErrors}, 0, Z), data.row)
        << seed;
  }
}

TEST(DoubtfulLines, AreNotSoughtAmongGoodOnes) {
  const BadRow data(1000);
  StackedFactors<double> Z = data.start();
  Z.U() = data.planted.U;
  const RowMatrix<double> before = Z.Z;
  EXPECT_TRUE(judge_doubtful_lines<double>(data.op(), data.b(), {kNoise, kErrors}, 0, Z).empty());
  EXPECT_EQ(Z.Z, before);
}

TEST(DoubtfulLines, OfAnAnswerAreNamedAndLeaveTheOthersAlone) {
  const BadRow data(0);
  const Recovery found = recover(completion(data.planted.entries));
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.undetermined.empty_rows, std::vector<Index>{0});
  for (const Index t : data.row) {
    const std::pair<Index, Index> place(0, data.planted.entries.col[static_cast<size_t>(t)]);
    EXPECT_TRUE(std::binary_search(found.outliers.begin(), found.outliers.end(), place));
  }
  const RowMatrix<double> X = testing::product(data.planted.U, data.planted.V.transpose());
  for (Index i = 1; i < 40; ++i)
    for (Index j = 0; j < 30; ++j) EXPECT_NEAR(found.predict(i, j), X(i, j), 0.15);
}

}  // namespace line_consensus_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "support/operator_registry.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace undetermined_test {

using Indices = std::vector<Index>;

/// Known places drawn as a picture: 'x' is known, anything else is not.
Entries pattern(const std::vector<std::string>& picture, bool symmetric = false) {
  const auto rows = static_cast<Index>(picture.size());
  Entries entries{rows, static_cast<Index>(picture[0].size()), symmetric, {}, {}, {}};
  for (size_t i = 0; i < picture.size(); ++i)
    for (size_t j = 0; j < picture[i].size(); ++j) {
      if (picture[i][j] != 'x') continue;
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(static_cast<std::int32_t>(j));
      entries.value.push_back(1);
    }
  return entries;
}

Undetermined open(const std::vector<std::string>& picture, Index rank, bool symmetric = false) {
  return EntriesOperator<double>(pattern(picture, symmetric)).undetermined(rank);
}

TEST(Undetermined, IsNothingForAFullMatrix) {
  EXPECT_FALSE(open({"xxx", "xxx", "xxx"}, 1).any());
  EXPECT_FALSE(open({"xxx", "xxx", "xxx"}, 3).any());
}

TEST(Undetermined, NamesRowsAndColumnsWithoutEntries) {
  const Undetermined u = open({"x.xx", "....", "x.xx"}, 1);
  EXPECT_EQ(u.empty_rows, Indices{1});
  EXPECT_EQ(u.empty_cols, Indices{1});
  EXPECT_TRUE(u.rows.empty() && u.cols.empty() && u.blocks.empty());
  EXPECT_TRUE(u.any());
}

TEST(Undetermined, NamesRowsWithFewerEntriesThanTheRank) {
  const std::vector<std::string> picture{"xxxx", "xxxx", "x...", "xxxx"};
  EXPECT_FALSE(open(picture, 1).any());
  const Undetermined u = open(picture, 2);
  EXPECT_EQ(u.rows, Indices{2});
  EXPECT_TRUE(u.cols.empty());
}

TEST(Undetermined, NamesColumnsWithFewerEntriesThanTheRank) {
  const Undetermined u = open({"xxx.", "xxxx", "xxx.", "xxx."}, 2);
  EXPECT_EQ(u.cols, Indices{3});
  EXPECT_TRUE(u.rows.empty());
}

TEST(Undetermined, PeelsChainsOfLinesThatLeanOnEachOther) {
  // Row 3 has one entry, in column 3; without it column 3 has one left, in row 2, and so on.
  const Undetermined u = open({"xxx.", "xxx.", "..xx", "...x"}, 2);
  EXPECT_EQ(u.rows, (Indices{2, 3}));
  EXPECT_EQ(u.cols, Indices{3});
}

TEST(Undetermined, NamesEveryLineWhereThePatternPeelsAwayWhole) {
  // A staircase: each line has two entries, but for the last row and the first column.
  const Undetermined u = open({"xx..", ".xx.", "..xx", "...x"}, 2);
  EXPECT_EQ(u.rows, (Indices{0, 1, 2, 3}));
  EXPECT_EQ(u.cols, (Indices{0, 1, 2, 3}));
}

TEST(Undetermined, NamesBlocksThatNothingLinksToTheLargest) {
  const Undetermined u = open({"x.xx.", ".x..x", "x.xx.", "x.xx."}, 1);
  ASSERT_EQ(u.blocks.size(), 1u);
  EXPECT_EQ(u.blocks[0].first, Indices{1});
  EXPECT_EQ(u.blocks[0].second, (Indices{1, 4}));
}

TEST(Undetermined, FindsBlocksThatOnlyAPeeledLineLinked) {
  // Row 4 touches both blocks, but its two entries cannot place it at rank 3.
  const std::vector<std::string> picture{"xxx...", "xxx...", "xxx...", "xxx...",
                                         "..xx..", "...xxx", "...xxx", "...xxx"};
  EXPECT_TRUE(open(picture, 2).blocks.empty());
  const Undetermined u = open(picture, 3);
  EXPECT_EQ(u.rows, Indices{4});
  ASSERT_EQ(u.blocks.size(), 1u);
  EXPECT_EQ(u.blocks[0].first, (Indices{5, 6, 7}));
  EXPECT_EQ(u.blocks[0].second, (Indices{3, 4, 5}));
}

TEST(Undetermined, CountsASymmetricEntryForItsRowAndItsColumn) {
  const std::vector<std::string> picture{"xxxx", ".xxx", "..xx", "...."};
  EXPECT_FALSE(open(picture, 3, true).any());
  const Undetermined u = open({"xxxx", ".xx.", "..x.", "...."}, 2, true);
  EXPECT_EQ(u.rows, Indices{3});
  EXPECT_TRUE(u.cols.empty() && u.empty_cols.empty());
}

TEST(Undetermined, CountsADiagonalEntryOnce) {
  const Undetermined u = open({"xx.", ".x.", "..x"}, 2, true);
  EXPECT_EQ(u.rows, Indices{2});
}

TEST(Undetermined, NamesSymmetricBlocksByRowsAlone) {
  const Undetermined u = open({"x..x", ".x..", "..x.", "...x"}, 1, true);
  ASSERT_EQ(u.blocks.size(), 2u);
  EXPECT_EQ(u.blocks[0].first, Indices{1});
  EXPECT_EQ(u.blocks[1].first, Indices{2});
  EXPECT_TRUE(u.blocks[0].second.empty());
}

TEST(Undetermined, AtRankZeroIsAsAtRankOne) {
  const Undetermined u = open({"x.", "..", "x."}, 0);
  EXPECT_EQ(u.empty_rows, Indices{1});
  EXPECT_EQ(u.empty_cols, Indices{1});
  EXPECT_TRUE(u.rows.empty());
}

TEST(Undetermined, IsUnknownToOtherOperators) {
  EXPECT_FALSE(testing::make_dense(4, 3, false)->undetermined(3).any());
}

}  // namespace undetermined_test
}  // namespace udv

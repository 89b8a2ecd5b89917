// SPDX-License-Identifier: MIT
#include "core/columns.hpp"

#include <gtest/gtest.h>

namespace udv {
namespace columns_test {

using Indices = std::vector<Index>;

RowMatrix<double> counting(Index rows, Index cols) {
  RowMatrix<double> values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = static_cast<double>(i);
  return values;
}

TEST(Complement, ListsWhatRemains) {
  EXPECT_EQ(complement(5, {1, 3}), (Indices{0, 2, 4}));
  EXPECT_EQ(complement(3, {}), (Indices{0, 1, 2}));
  EXPECT_EQ(complement(2, {0, 1}), Indices{});
  EXPECT_EQ(complement(0, {}), Indices{});
}

TEST(WithoutColumns, KeepsTheOtherColumnsInOrder) {
  const RowMatrix<double> kept = without_columns(counting(2, 4), {0, 2});
  EXPECT_EQ(kept, (RowMatrix<double>(2, 2) << 1, 3, 5, 7).finished());
}

TEST(WithoutColumns, MayRemoveNoneOrAll) {
  EXPECT_EQ(without_columns(counting(2, 3), {}), counting(2, 3));
  const RowMatrix<double> none = without_columns(counting(2, 3), {0, 1, 2});
  EXPECT_EQ(none.rows(), 2);
  EXPECT_EQ(none.cols(), 0);
}

TEST(WithoutEntries, KeepsTheOtherEntriesInOrder) {
  const Vector<double> values = counting(5, 1);
  EXPECT_EQ(without_entries(values, {0, 4}), (Vector<double>(3) << 1, 2, 3).finished());
}

}  // namespace columns_test
}  // namespace udv

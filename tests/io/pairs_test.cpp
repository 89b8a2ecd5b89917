// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace pairs_test {

using Pairs = std::vector<std::pair<Index, Index>>;

Pairs read(const std::string& text, int base) {
  const TemporaryFolder folder;
  return read_pairs(folder.write("p.txt", text), base, 3, 4);
}

std::string error_of(const std::string& text, int base) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.txt", text);
  return folder.error_of([&] { read_pairs(path, base, 3, 4); });
}

TEST(Pairs, KeepTheOrderOfTheFileAndRepeats) {
  EXPECT_EQ(read("2 1\n0 0\n2 1\n", 0), (Pairs{{2, 1}, {0, 0}, {2, 1}}));
}

TEST(Pairs, AreReturnedFromZero) {
  EXPECT_EQ(read("1,1\n3,4\n", 1), (Pairs{{0, 0}, {2, 3}}));
}

TEST(Pairs, ReadTheGrammarOfTriplets) {
  EXPECT_EQ(read("# wanted\r\nuser id;item\r\n\"1\"; 2.0\r\n", 1), (Pairs{{0, 1}}));
}

TEST(Pairs, IgnoreFurtherColumns) {
  EXPECT_EQ(read("row,col,name\n1,1,anything\n", 1), (Pairs{{0, 0}}));
}

TEST(Pairs, AreReadByTheirHeader) {
  EXPECT_EQ(read("item,rating,user\n1,5,3\n", 1), (Pairs{{2, 0}}));
  const TemporaryFolder folder;
  const auto path = folder.write("p.txt", "what,who\n1,3\n");
  EXPECT_EQ(read_pairs(path, 1, 3, 4, {"who", "what"}), (Pairs{{2, 0}}));
  EXPECT_EQ(read_pairs(path, 1, 3, 4, {"1", "2"}), (Pairs{{0, 2}}));
}

TEST(Pairs, RefuseAnIndexBelowTheBase) {
  EXPECT_EQ(error_of("1 1\n0 1\n", 1),
            "p.txt:2: row index 0 found, 1 or more expected (counted from 1)");
}

TEST(Pairs, RefuseAPlaceOutside) {
  EXPECT_EQ(error_of("1 5\n", 1),
            "p.txt:1: pair (1, 5) found, a place inside 3 x 4 expected (counted from 1)");
  EXPECT_EQ(error_of("0 3\n3 0\n", 0),
            "p.txt:2: pair (3, 0) found, a place inside 3 x 4 expected (counted from 0)");
}

TEST(Pairs, RefuseBadLinesLikeTriplets) {
  EXPECT_EQ(error_of("1 1\n1\n", 1), "p.txt:2: 1 field found, 2 expected");
  EXPECT_EQ(error_of("1 x\n", 1),
            "p.txt:1: text where a number belongs: 'x' found, a column index expected");
  EXPECT_EQ(error_of("1 1.5\n", 1), "p.txt:1: column index '1.5' found, a whole number expected");
}

TEST(Pairs, RefuseAFileWithoutAny) {
  EXPECT_EQ(error_of("", 1), "p.txt: empty file found, lines of row, column expected");
  EXPECT_EQ(error_of("row col\n", 1), "p.txt: only a header found, lines of row, column expected");
}

}  // namespace pairs_test
}  // namespace udv::io

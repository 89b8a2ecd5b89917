// SPDX-License-Identifier: MIT
#include "io/parted_text.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "udv/core/error.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace parted_text_test {

using detail::PartedText;

TEST(PartedText, RangesOfBytesShareTheLines) {
  const TemporaryFolder folder;
  const std::string text = "0,0,1\n0,1,22\n1,0,333\n1,1,4444";
  folder.write("data.csv", text);
  const PartedText whole(folder / "data.csv");
  EXPECT_EQ(whole.all(), text + "\n");
  for (int ranks = 1; ranks <= 40; ++ranks) {
    std::string joined;
    for (int r = 0; r < ranks; ++r)
      joined += whole.lines(whole.size() * r / ranks, whole.size() * (r + 1) / ranks);
    EXPECT_EQ(joined, text + "\n") << ranks;
  }
}

TEST(PartedText, PartsComeInTheOrderOfTheirNumbersWithOneHeader) {
  const TemporaryFolder folder;
  for (int k = 0; k < 11; ++k)
    folder.write("part-" + std::to_string(k) + ".csv",
                 "row,column,value\n" + std::to_string(k) + ",0,5\n");
  const PartedText whole(folder / "part-*.csv");
  std::string expected = "row,column,value\n";
  for (int k = 0; k < 11; ++k) expected += std::to_string(k) + ",0,5\n";
  EXPECT_EQ(whole.all(), expected);
  std::string joined;
  for (int r = 0; r < 7; ++r)
    joined += whole.lines(whole.size() * r / 7, whole.size() * (r + 1) / 7);
  EXPECT_EQ(joined, expected);
  EXPECT_EQ(read_entries(folder / "part-*.csv").size(), 11);
}

void expect_error(const TemporaryFolder& folder, const std::string& text) {
  try {
    PartedText(folder / "part-*.csv");
    FAIL() << "no error, expected: " << text;
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(PartedText, MissingAndDoubledPartsAreRefused) {
  {
    const TemporaryFolder folder;
    expect_error(folder, "no part found");
    folder.write("part-0.csv", "0,0,1\n");
    folder.write("part-2.csv", "0,1,1\n");
    expect_error(folder, "part 1 is missing, part-2.csv found");
  }
  {
    const TemporaryFolder folder;
    folder.write("part-1.csv", "0,0,1\n");
    folder.write("part-01.csv", "0,1,1\n");
    expect_error(folder, "part 1 is there twice");
  }
  {
    const TemporaryFolder folder;
    folder.write("part-1.csv", "0,0,1\n");
    folder.write("part-2.csv", "0,0,1\n");
    expect_error(folder, "part-1.csv and part-2.csv are the same");
  }
  const TemporaryFolder folder;
  folder.write("part-1.csv", "0,0,1\n");
  folder.write("part-last.csv", "0,1,1\n");
  expect_error(folder, "part-last.csv found, a whole number in the place of * expected");
}

}  // namespace parted_text_test
}  // namespace udv::io

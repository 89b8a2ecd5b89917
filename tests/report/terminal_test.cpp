// SPDX-License-Identifier: MIT
#include "udv/report/terminal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace udv::report {
namespace terminal_test {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Index count_of(const std::string& text, const std::string& part) {
  Index count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

SpectrumLine spectrum(const std::string& name, std::initializer_list<double> values) {
  SpectrumLine line{name, Vector<double>(static_cast<Index>(values.size()))};
  std::copy(values.begin(), values.end(), line.values.begin());
  return line;
}

TEST(Table, AlignsTheFirstColumnLeftAndTheOthersRight) {
  EXPECT_EQ(table({"method", "rank"}, {{"bm", "17"}, {"udu", "3"}}),
            "  method   rank\n"
            "  ──────   ────\n"
            "  bm         17\n"
            "  udu         3\n");
}

TEST(Table, MakesRoomForTheWidestCell) {
  const auto lines = lines_of(table({"a", "b"}, {{"long name", "1"}, {"x", "123456"}}));
  EXPECT_EQ(lines[0], "  a                b");
  EXPECT_EQ(lines[2], "  long name        1");
  EXPECT_EQ(lines[3], "  x           123456");
}

TEST(Table, CountsCharactersNotBytes) {
  const auto lines = lines_of(table({"σ", "x"}, {{"ab", "é"}, {"σσ", "y"}}));
  EXPECT_EQ(lines[0], "  σ    x");
  EXPECT_EQ(lines[2], "  ab   é");
  EXPECT_EQ(lines[3], "  σσ   y");
}

TEST(Table, LeavesNoBlanksAtTheEndOfALine) {
  for (const auto& line : lines_of(table({"name", "note"}, {{"x", ""}, {"y", "z"}})))
    EXPECT_NE(line.back(), ' ') << line;
}

TEST(Table, WithoutRowsIsItsHeader) {
  EXPECT_EQ(table({"a"}, {}), "  a\n  ─\n");
}

TEST(Number, ShowsThreeDigitsOfOrdinarySizes) {
  EXPECT_EQ(number(33.14), "33.1");
  EXPECT_EQ(number(0.5234), "0.523");
  EXPECT_EQ(number(-2), "-2");
  EXPECT_EQ(number(0.01), "0.01");
  EXPECT_EQ(number(0), "0");
}

TEST(Number, ShowsTwoDigitsAndAPowerOfTenOtherwise) {
  EXPECT_EQ(number(1.234e-13), "1.2e-13");
  EXPECT_EQ(number(0.00999), "1.0e-02");
  EXPECT_EQ(number(-5.56e7), "-5.6e+07");
}

TEST(Number, ShowsNoPowerOfTenBelowTenThousand) {
  for (const double value : {999.0, 999.9, 1234.0, 9999.0})
    EXPECT_EQ(number(value).find('e'), std::string::npos) << number(value);
}

TEST(Number, NamesWhatIsNotFinite) {
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "inf");
}

TEST(Duration, ShowsMillisecondsBelowASecond) {
  EXPECT_EQ(duration(0.00214), "2.14 ms");
  EXPECT_EQ(duration(0.5), "500 ms");
}

TEST(Duration, ShowsSecondsBelowTwoMinutes) {
  EXPECT_EQ(duration(1), "1 s");
  EXPECT_EQ(duration(3.44), "3.44 s");
  EXPECT_EQ(duration(119), "119 s");
}

TEST(Duration, ShowsMinutesThenHours) {
  EXPECT_EQ(duration(125), "2 min 5 s");
  EXPECT_EQ(duration(7199), "119 min 59 s");
  EXPECT_EQ(duration(7260), "2 h 1 min");
}

TEST(Duration, NeverShowsAPowerOfTen) {
  for (const double seconds : {0.9994, 0.9996, 0.99999, 119.4, 119.99})
    EXPECT_EQ(duration(seconds).find("e+"), std::string::npos) << duration(seconds);
}

TEST(SpectrumSketch, DrawsOneRowPerValueUnderTheName) {
  const auto lines = lines_of(spectrum_sketch({spectrum("udu", {4, 2, 1})}, 3));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[0].find("udu"), std::string::npos);
  EXPECT_EQ(lines[1].find("  σ1"), 0u);
  EXPECT_EQ(lines[3].find("  σ3"), 0u);
}

TEST(SpectrumSketch, HasBarsOfLogarithmicLength) {
  const auto lines = lines_of(spectrum_sketch({spectrum("x", {1, 1e-4, 1e-8})}, 3, 1e-16, 32));
  EXPECT_EQ(count_of(lines[1], "█"), 32);
  EXPECT_EQ(count_of(lines[2], "█"), 24);
  EXPECT_EQ(count_of(lines[3], "█"), 16);
}

TEST(SpectrumSketch, LabelsBarsWithTheShareOfTheFirstValue) {
  const auto lines = lines_of(spectrum_sketch({spectrum("x", {50, 5e-3})}, 2));
  EXPECT_NE(lines[1].find(" 1e+00"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find(" 1e-04"), std::string::npos) << lines[2];
}

TEST(SpectrumSketch, ShowsADotWhereASpectrumHasEnded) {
  const auto lines = lines_of(spectrum_sketch({spectrum("x", {1, 1e-20})}, 3));
  EXPECT_EQ(lines[2], "  σ2  ·");
  EXPECT_EQ(lines[3], "  σ3  ·");
}

TEST(SpectrumSketch, OfZeroIsAllDots) {
  EXPECT_EQ(count_of(spectrum_sketch({spectrum("x", {0, 0}), spectrum("y", {})}, 2), "·"), 4);
}

TEST(SpectrumSketch, PutsSpectraSideBySide) {
  const auto lines = lines_of(spectrum_sketch({spectrum("bm", {1, 1}), spectrum("udu", {1})}, 2));
  EXPECT_EQ(count_of(lines[1], "σ1"), 2);
  EXPECT_EQ(count_of(lines[2], "σ2"), 2);
  EXPECT_LT(lines[0].find("bm"), lines[0].find("udu"));
}

}  // namespace terminal_test
}  // namespace udv::report

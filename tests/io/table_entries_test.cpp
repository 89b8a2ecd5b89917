// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace table_entries_test {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;

EntriesFile read(const std::string& text, EntriesOptions options = {}) {
  const TemporaryFolder folder;
  return read_entries_file(folder.write("x.csv", text), options);
}

EntriesFile read_as_table(const std::string& text) {
  return read(text, {.layout = Layout::kTable});
}

std::string error_of(const std::string& text, Layout layout = Layout::kTable) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.csv", text);
  return folder.error_of([&] { read_entries_file(path, {.layout = layout}); });
}

TEST(Table, OfNumbersHasBlanksWhereNothingIsKnown) {
  const EntriesFile file = read_as_table("1,,3\nNA,5,nan\n?,NULL,-9.5\n");
  EXPECT_EQ(file.entries.rows, 3);
  EXPECT_EQ(file.entries.cols, 3);
  EXPECT_EQ(file.entries.row, (Indices{0, 0, 1, 2}));
  EXPECT_EQ(file.entries.col, (Indices{0, 2, 1, 2}));
  EXPECT_EQ(file.entries.value, (Values{1, 3, 5, -9.5}));
  EXPECT_TRUE(file.row_keys.empty());
  EXPECT_TRUE(file.col_keys.empty());
  EXPECT_EQ(file.base, 1);
  EXPECT_TRUE(file.form.is_table);
}

TEST(Table, KeepsHeaderAndLabels) {
  const EntriesFile file = read_as_table("name;Mon;Tue\nann;1;\n\"bob; jr\";;4\n");
  EXPECT_EQ(file.row_keys, Keys({"ann", "bob; jr"}));
  EXPECT_EQ(file.col_keys, Keys({"Mon", "Tue"}));
  EXPECT_EQ(file.entries.value, (Values{1, 4}));
  EXPECT_EQ(file.form.corner, "name");
  EXPECT_EQ(file.form.separator, ';');
}

TEST(Table, MayHaveLabelsWithoutAHeader) {
  const EntriesFile file = read_as_table("ann\t1\t\nbob\t\t4\n");
  EXPECT_EQ(file.row_keys, Keys({"ann", "bob"}));
  EXPECT_TRUE(file.col_keys.empty());
  EXPECT_EQ(file.entries.cols, 2);
}

TEST(Table, MayHaveAHeaderWithoutLabels) {
  const EntriesFile file = read_as_table("a,b,c\n1,,3\n4,5,6\n");
  EXPECT_TRUE(file.row_keys.empty());
  EXPECT_EQ(file.col_keys, Keys({"a", "b", "c"}));
  EXPECT_EQ(file.entries.size(), 5);
}

TEST(Table, WithABlankCornerHasLabelsEvenWhereTheyAreNumbers) {
  const EntriesFile file = read_as_table(",a,b\n17,1,2\n18,3,\n");
  EXPECT_EQ(file.row_keys, Keys({"17", "18"}));
  EXPECT_EQ(file.entries.size(), 3);
}

TEST(Table, TakesItsLabelsFromTheColumnThatIsNamed) {
  EntriesOptions options{.layout = Layout::kTable};
  options.row = "code";
  const EntriesFile file = read("a,code,b\n1,7,2\n3,8,\n", options);
  EXPECT_EQ(file.row_keys, Keys({"7", "8"}));
  EXPECT_EQ(file.col_keys, Keys({"a", "b"}));
}

TEST(Table, OfTabsHasRowsWithoutAnyValue) {
  const EntriesFile file = read_as_table("1\t2\t3\n\t\t\n4\t5\t6\n");
  EXPECT_EQ(file.entries.rows, 3);
  EXPECT_EQ(file.entries.row, (Indices{0, 0, 0, 2, 2, 2}));
}

TEST(Table, IsRefusedByLineAndField) {
  EXPECT_EQ(error_of("a,b,c\n1,2\n"), "x.csv:2: 2 fields found, 3 expected");
  EXPECT_EQ(error_of("a,b,c\n1,2,x\n"),
            "x.csv:2: text where a number belongs: 'x' found, a value expected");
  EXPECT_EQ(error_of("a;b;c\n1;2;3,5\n"),
            "x.csv:2: '3,5' found, a value with a decimal point expected");
  EXPECT_EQ(error_of("n,a,b\nann,1,2\nbob,1,2\nann,3,4\n"),
            "x.csv:4: a second row 'ann' found (the first in line 2), each one once expected");
  EXPECT_EQ(error_of("n,a,a\nann,1,2\n"),
            "x.csv:1: a second column 'a' found (the first in line 1), each one once expected");
  EXPECT_EQ(error_of("a,\"b,c\n"), "x.csv:1: '\"b,c' found, a closing quote expected");
  EXPECT_EQ(error_of("NA,NA\n,\n"),
            "x.csv: only unknown values found, at least one known entry expected");
  EXPECT_EQ(error_of("a,b,c\n"), "x.csv: only a header found, lines of data expected");
  EXPECT_EQ(error_of(""), "x.csv: empty file found, a table with one line for each row expected");
}

TEST(Layout, IsGuessedFromTheNumberOfColumnsAndTold) {
  const EntriesFile file = read("a,b,c,d,e\n1,,3,4,5\n1,2,3,4,5\n");
  EXPECT_TRUE(file.form.is_table);
  ASSERT_EQ(file.notices.size(), 1u);
  EXPECT_NE(file.notices[0].find("read as a table"), std::string::npos) << file.notices[0];
}

TEST(Layout, OfThreeOrFourColumnsIsTriplets) {
  EXPECT_FALSE(read("1,2,3\n2,1,4\n").form.is_table);
  EXPECT_FALSE(read("1,2,3,9\n2,1,4,9\n").form.is_table);
  EXPECT_FALSE(read("who,what,much\nann,tea,3\n").form.is_table);
}

TEST(Layout, IsTripletsWhereTheHeaderSaysSo) {
  EXPECT_FALSE(read("time,note,user,item,rating\n1,x,2,3,4\n").form.is_table);
}

TEST(Layout, IsATableWhereFractionsStandForKeys) {
  EXPECT_TRUE(read("1.5,2.5,3.5\n2.5,1.5,4.5\n").form.is_table);
  EXPECT_TRUE(read("name,a,b\nann,1.5,2\n").form.is_table);
}

TEST(Layout, CanBeGiven) {
  EXPECT_TRUE(read_as_table("1,2,3\n2,1,4\n").form.is_table);
  EXPECT_EQ(read("1,2,3,4,5\n", {.layout = Layout::kTriplets}).entries.size(), 1);
}

TEST(Table, MatchesKnownColumnsByName) {
  const Keys cols({"x", "y", "z"});
  EntriesOptions options{.layout = Layout::kTable};
  options.known_cols = &cols;
  const EntriesFile file = read("name,z,other,x\nann,1,2,3\n", options);
  EXPECT_EQ(file.entries.cols, 3);
  EXPECT_EQ(file.entries.col, (Indices{0, 2}));
  EXPECT_EQ(file.entries.value, (Values{3, 1}));
  EXPECT_EQ(file.left_out, 1);
}

}  // namespace table_entries_test
}  // namespace udv::io

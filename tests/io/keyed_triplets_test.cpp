// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace keyed_triplets_test {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;
using Lines = std::vector<std::string>;

EntriesFile read(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  EntriesFile file = read_entries_file(folder.write("x.csv", text), options);
  for (std::string& line : file.warnings) line = folder.without_folder(line);
  for (std::string& line : file.notices) line = folder.without_folder(line);
  return file;
}

std::string error_of(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.csv", text);
  return folder.error_of([&] { read_entries_file(path, options); });
}

TEST(KeyedTriplets, AreNumberedAsTheyOccur) {
  const EntriesFile file = read("ann,Toy Story (1995),5\nbob,Heat,3\nann,Heat,4\n");
  EXPECT_EQ(file.row_keys, Keys({"ann", "bob"}));
  EXPECT_EQ(file.col_keys, Keys({"Toy Story (1995)", "Heat"}));
  EXPECT_EQ(file.entries.row, (Indices{0, 0, 1}));
  EXPECT_EQ(file.entries.col, (Indices{0, 1, 1}));
  EXPECT_EQ(file.entries.value, (Values{5, 4, 3}));
  EXPECT_EQ(file.entries.rows, 2);
  EXPECT_EQ(file.entries.cols, 2);
  EXPECT_EQ(file.base, 0);
  EXPECT_EQ(file.warnings, Lines{});
}

TEST(KeyedTriplets, MayBeQuotedAndHaveSeparatorsInside) {
  const EntriesFile file =
      read("user,movie,rating\nann,\"Good, the Bad, the\",5\nann,\"say \"\"hi\"\"\",1\n");
  EXPECT_EQ(file.col_keys, Keys({"Good, the Bad, the", "say \"hi\""}));
}

TEST(KeyedTriplets, MayBeUtf8OrLatin1) {
  EXPECT_EQ(read("z\xC3\xBCrich,b,1\n").row_keys, Keys({"z\xC3\xBCrich"}));
  EXPECT_EQ(read("z\xFCrich,b,1\n").row_keys, Keys({"z\xC3\xBCrich"}));
}

TEST(KeyedTriplets, OfNumbersAreInTheirOrder) {
  const EntriesFile file = read("u,i,r\n10,b,1\n9,a,2\n");
  EXPECT_EQ(file.row_keys, Keys({"9", "10"}));
  EXPECT_EQ(file.col_keys, Keys({"b", "a"}));
  EXPECT_EQ(file.entries.row, (Indices{0, 1}));
  EXPECT_EQ(file.entries.col, (Indices{1, 0}));
}

TEST(KeyedTriplets, OfTwoKindsAreRefusedWhereNobodyHasNamedTheColumn) {
  try {
    read("1,2,3\nx,2,3\n");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'x' in line 2), one kind expected"),
              std::string::npos)
        << error.what();
  }
}

TEST(KeyedTriplets, OfTwoKindsAreWordsWithAWarning) {
  EXPECT_EQ(read("1,2,3\nx,2,3\n", {.row = "1"}).warnings,
            Lines{"x.csv: row keys are numbers in some lines ('1' in line 1) and words in others "
                  "('x' in line 2): all are taken as words"});
}

TEST(KeyedTriplets, HaveOneListOfKeysWhereSymmetric) {
  const EntriesFile file = read("a,b,1\nc,a,2\n", {.symmetric = true});
  EXPECT_EQ(file.row_keys, Keys({"a", "b", "c"}));
  EXPECT_EQ(file.col_keys, file.row_keys);
  EXPECT_EQ(file.entries.rows, 3);
  EXPECT_EQ(file.entries.row, (Indices{0, 0}));
  EXPECT_EQ(file.entries.col, (Indices{1, 2}));
}

TEST(KeyedTriplets, NameTheirKeysInErrors) {
  EXPECT_EQ(error_of("a,b,1\na,c,1\na,b,2\n"),
            "x.csv:3: ('a', 'b') has value 2 but ('a', 'b') has 1 in line 1, one value expected");
  EXPECT_EQ(error_of("a,b,1\n,c,1\n"), "x.csv:2: empty field found, a row key expected");
  EXPECT_EQ(error_of("a,\"b,1\n"), "x.csv:1: '\"b,1' found, a closing quote expected");
  EXPECT_EQ(error_of("a,b,1\nb,c\n"), "x.csv:2: 2 fields found, 3 expected");
}

TEST(LargeNumbers, AreKeys) {
  const EntriesFile file = read("76561197970982479,1,5\n76561197970982480,2,4\n");
  EXPECT_EQ(file.row_keys, Keys({"76561197970982479", "76561197970982480"}));
  EXPECT_EQ(file.col_keys, Keys({"1", "2"}));
}

TEST(SparseNumbers, CostOnlyTheLinesThatOccur) {
  const EntriesFile file = read("39000000,7,5\n12,7,4\n12,8000000,3\n");
  EXPECT_EQ(file.row_keys, Keys({"12", "39000000"}));
  EXPECT_EQ(file.col_keys, Keys({"7", "8000000"}));
  EXPECT_EQ(file.entries.rows, 2);
  EXPECT_EQ(file.entries.row, (Indices{0, 0, 1}));
  EXPECT_EQ(file.entries.col, (Indices{0, 1, 0}));
  EXPECT_EQ(file.notices,
            Lines{"x.csv: row numbers reach 39000000 and column numbers 8000000, but only 2 and 2 "
                  "occur: they are taken as names"});
}

TEST(SparseNumbers, StayIndicesWhereABaseIsGiven) {
  const EntriesFile file = read("39000000,7,5\n12,7,4\n", {.base = IndexBase::kOne});
  EXPECT_TRUE(file.row_keys.empty());
  EXPECT_EQ(file.entries.rows, 39000000);
}

TEST(Columns, AreChosenByName) {
  const EntriesFile file = read("when,who,what,stars\n9,2,1,5\n8,1,1,4\n",
                                {.row = "who", .column = "what", .value = "stars"});
  EXPECT_EQ(file.entries.row, (Indices{0, 1}));
  EXPECT_EQ(file.entries.value, (Values{4, 5}));
  EXPECT_EQ(file.warnings, Lines{"x.csv: 1 column ignored: 'when'"});
}

TEST(Columns, AreChosenByNumber) {
  const EntriesFile file = read("9 2 1 5\n8 1 1 4\n", {.row = "2", .column = "3", .value = "4"});
  EXPECT_EQ(file.entries.value, (Values{4, 5}));
  EXPECT_EQ(file.base, 1);
}

TEST(Columns, ThatAreNotNamedAreTheFirstOnesLeft) {
  const EntriesFile file = read("5 2 1\n4 1 1\n", {.value = "1"});
  EXPECT_EQ(file.entries.row, (Indices{0, 1}));
  EXPECT_EQ(file.entries.value, (Values{4, 5}));
}

TEST(Columns, AreGuessedFromTheHeaderAndTold) {
  const EntriesFile file = read("Timestamp,Item ID,USER_ID,Rating\n99,2,1,5\n98,1,2,4\n");
  EXPECT_EQ(file.entries.row, (Indices{0, 1}));
  EXPECT_EQ(file.entries.col, (Indices{1, 0}));
  EXPECT_EQ(file.entries.value, (Values{5, 4}));
  EXPECT_EQ(file.notices, Lines{"x.csv: rows from 'USER_ID', columns from 'Item ID', values from "
                                "'Rating'"});
}

TEST(Columns, OfAHeaderWithoutAValueAreRefused) {
  EXPECT_EQ(error_of("user,item,timestamp\n1,2,3\n"),
            "x.csv:1: header 'user, item, timestamp' found, a column called value, rating, score "
            "or x expected; the option value names another one");
}

TEST(Columns, ThatAreNotThereAreRefused) {
  EXPECT_EQ(error_of("user,item,stars\n1,2,3\n", {.value = "star"}),
            "x.csv:1: header 'user, item, stars' found, a column 'star' expected; did you mean "
            "stars?");
  EXPECT_EQ(error_of("1,2,3\n", {.value = "stars"}),
            "x.csv:1: no header found, a column 'stars' expected (or a number from 1 to 3)");
  EXPECT_EQ(error_of("a,b,c\n1,2,3\n", {.row = "a", .column = "a"}),
            "x.csv:1: 'a' found for two of row, column, value and weight, one expected");
}

TEST(Weights, AreReadFromTheirColumn) {
  const EntriesFile file = read("2,1,5,0.5\n1,1,4,2\n", {.weight = "4"});
  EXPECT_EQ(file.entries.value, (Values{4, 5}));
  EXPECT_EQ(file.entries.weight, (Values{2, 0.5}));
}

TEST(Weights, FollowFromStandardDeviations) {
  EXPECT_EQ(read("i,j,x,s\n1,1,5,0.5\n1,2,4,2\n", {.std = "s"}).entries.weight, (Values{4, 0.25}));
}

TEST(Weights, AreGuessedFromTheHeader) {
  const EntriesFile file = read("row,col,value,std\na,b,5,0.5\na,c,4,2\n");
  EXPECT_EQ(file.entries.weight, (Values{4, 0.25}));
  EXPECT_EQ(file.notices, Lines{"x.csv: rows from 'row', columns from 'col', values from 'value', "
                                "standard deviations from 'std'"});
}

TEST(Weights, MustBePositive) {
  EXPECT_EQ(error_of("1,1,5,1\n1,2,5,0\n", {.weight = "4"}),
            "x.csv:2: weight '0' found, a number above 0 expected");
  EXPECT_EQ(error_of("a,b,5,-1\n", {.weight = "4"}),
            "x.csv:1: weight '-1' found, a number above 0 expected");
  EXPECT_EQ(error_of("1,1,5,1e-300\n", {.std = "4"}),
            "x.csv:1: standard deviation '1e-300' found, a number above 0 expected");
}

TEST(KnownKeys, LeaveOthersOutAndCountThem) {
  const Keys rows({"ann", "bob"}), cols({"x", "y"});
  EntriesOptions options;
  options.known_rows = &rows;
  options.known_cols = &cols;
  const EntriesFile file = read("bob,y,1\nann,z,2\neve,x,3\nann,x,4\n", options);
  EXPECT_EQ(file.entries.row, (Indices{0, 1}));
  EXPECT_EQ(file.entries.value, (Values{4, 1}));
  EXPECT_EQ(file.left_out, 2);
  EXPECT_EQ(file.row_keys, rows);
}

TEST(KeyedPairs, KeepTheOrderAndLeaveOutUnknownOnes) {
  const TemporaryFolder folder;
  const Keys rows({"ann", "bob"}), cols({"x", "y z"});
  const PairsFile file =
      read_pairs(folder.write("p.csv", "who,what\nbob,y z\neve,x\nann,x\n"), rows, cols);
  EXPECT_EQ(file.pairs, (std::vector<std::pair<Index, Index>>{{1, 1}, {0, 0}}));
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_EQ(folder.without_folder(file.warnings[0]),
            "p.csv: 1 of 3 pairs have keys without data and are left out (row 'eve' in line 3)");
}

TEST(KeyedPairs, AreReadByTheirHeader) {
  const TemporaryFolder folder;
  const Keys rows({"ann", "bob"}), cols({"x", "y z"});
  EXPECT_EQ(read_pairs(folder.write("p.csv", "rating,film,user\n5,y z,bob\n"), rows, cols).pairs,
            (std::vector<std::pair<Index, Index>>{{1, 1}}));
}

TEST(KeyedPairs, NeedNoHeader) {
  const TemporaryFolder folder;
  const Keys rows({"ann", "bob"}), cols({"x", "y z"});
  EXPECT_EQ(read_pairs(folder.write("p.csv", "bob,x\nann,x\n"), rows, cols).pairs.size(), 2u);
}

TEST(ListedRows, AreReadByKey) {
  const TemporaryFolder folder;
  const Keys keys({"ann", "Toy Story, The", "b c"});
  const auto path = folder.write("rows.txt", "name\nb c\n\"Toy Story, The\"\n");
  EXPECT_EQ(read_lines_of(path, keys), (std::vector<Index>{2, 1}));
  const auto bad = folder.write("bad.txt", "ann\neve\n");
  EXPECT_EQ(folder.error_of([&] { read_lines_of(bad, keys); }),
            "bad.txt:2: key 'eve' found, one of the data expected");
}

}  // namespace keyed_triplets_test
}  // namespace udv::io

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace triplets_test {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;
using Warnings = std::vector<std::string>;

EntriesFile read(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  EntriesFile file = read_entries_file(folder.write("x.csv", text), options);
  for (std::string& warning : file.warnings) warning = folder.without_folder(warning);
  return file;
}

std::string error_of(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.csv", text);
  return folder.error_of([&] { read_entries_file(path, options); });
}

void expect_entries(const Entries& entries, const Indices& row, const Indices& col,
                    const Values& value) {
  EXPECT_EQ(entries.row, row);
  EXPECT_EQ(entries.col, col);
  EXPECT_EQ(entries.value, value);
}

TEST(Triplets, AreSortedByRowThenColumn) {
  expect_entries(read("1,1,5\n0,2,3\n1,0,4\n0,0,1\n").entries, {0, 0, 1, 1}, {0, 2, 0, 1},
                 {1, 3, 4, 5});
}

TEST(Triplets, ReadAnyFormOfNumber) {
  expect_entries(read("1 1 -1.5e-3\n1 2 +2\n1 3.0 .5\n+1 4e0 7.\n").entries, {0, 0, 0, 0},
                 {0, 1, 2, 3}, {-1.5e-3, 2, 0.5, 7});
}

TEST(Triplets, KeepZeroValues) {
  expect_entries(read("1 1 0\n2 2 -0\n").entries, {0, 1}, {0, 1}, {0, 0});
}

constexpr auto name_of = [](const auto& test) { return std::string(test.param.name); };

struct Dialect {
  const char* name;
  const char* text;
};

void PrintTo(const Dialect& dialect, std::ostream* out) {
  *out << dialect.name;
}

class TripletDialect : public ::testing::TestWithParam<Dialect> {};

TEST_P(TripletDialect, IsUnderstood) {
  const EntriesFile file = read(GetParam().text);
  expect_entries(file.entries, {0, 1}, {1, 0}, {2.5, -3});
  EXPECT_EQ(file.base, 1);
  EXPECT_EQ(file.warnings, Warnings{});
}

INSTANTIATE_TEST_SUITE_P(Separators, TripletDialect,
                         ::testing::Values(Dialect{"Comma", "1,2,2.5\n2,1,-3\n"},
                                           Dialect{"CommaAndBlanks", "1, 2, 2.5\n2 ,1 ,-3\n"},
                                           Dialect{"CommaAndTabs", "1,\t2,\t2.5\n2,\t1,\t-3\n"},
                                           Dialect{"Tab", "1\t2\t2.5\n2\t1\t-3"},
                                           Dialect{"Semicolon", "1;2;2.5\n2;1;-3\n"},
                                           Dialect{"Blanks", "1 2 2.5\n2   1\t-3  \n"},
                                           Dialect{"LeadingBlanks", "  1  2  2.5\n\t2 1 -3\n"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Extras, TripletDialect,
    ::testing::Values(Dialect{"Crlf", "1,2,2.5\r\n2,1,-3\r\n"},
                      Dialect{"ByteOrderMark",
                              "\xEF\xBB\xBF"
                              "1,2,2.5\n2,1,-3\n"},
                      Dialect{"Quotes", "\"1\",\"2\",\"2.5\"\n2,\"1\" , -3\n"},
                      Dialect{"QuotesBetweenBlanks", "\"1\" \"2\" 2.5\n2 1 \"-3\"\n"},
                      Dialect{"CommentsAndBlankLines",
                              "# a\n% b\n\n1 2 2.5\n  \n  # c\n2 1 -3\n\n"},
                      Dialect{"Header", "row,col,value\n1,2,2.5\n2,1,-3\n"},
                      Dialect{"HeaderWithBlanks", "user id,item id,rating\n1,2,2.5\n2,1,-3\n"},
                      Dialect{"HeaderWithQuotes", "\"a;b\",\"c\"\"d\",e\n1,2,2.5\n2,1,-3\n"},
                      Dialect{"Everything",
                              "\xEF\xBB\xBF"
                              "i\tj k\tv\r\n1\t2\t2.5\r\n#\r\n2\t\"1\"\t-3\r\n"}),
    name_of);

TEST(Triplets, NameIgnoredColumnsByTheirHeader) {
  const EntriesFile file = read("u,i,r,\"time, UTC\",note\n1,1,5,123,\"fine, \"\"so\"\"\"\n");
  expect_entries(file.entries, {0}, {0}, {5});
  EXPECT_EQ(file.warnings, Warnings{"x.csv: 2 columns ignored: 'time, UTC', 'note'"});
}

TEST(Triplets, NumberIgnoredColumnsWithoutAHeader) {
  const EntriesFile file = read("1\t1\t5\t881250949\n1\t2\t3\t\n");
  EXPECT_EQ(file.warnings, Warnings{"x.csv: 1 column ignored: number 4"});
}

TEST(Triplets, NameOnlyTheFirstOfManyIgnoredColumns) {
  EXPECT_EQ(read("1 1 1 4 5 6 7 8 9 10\n", {.layout = Layout::kTriplets}).warnings,
            Warnings{"x.csv: 7 columns ignored: number 4, number 5, number 6, number 7, number 8 "
                     "and 2 more"});
}

TEST(IndexBase, IsZeroWhereAnIndexZeroOccurs) {
  const EntriesFile file = read("1 1 5\n3 0 6\n");
  EXPECT_EQ(file.base, 0);
  EXPECT_EQ(file.entries.rows, 4);
  EXPECT_EQ(file.entries.cols, 2);
}

TEST(IndexBase, IsOneWhereNoIndexZeroOccurs) {
  const EntriesFile file = read("1 1 5\n3 2 6\n");
  EXPECT_EQ(file.base, 1);
  EXPECT_EQ(file.entries.rows, 3);
  EXPECT_EQ(file.entries.cols, 2);
}

TEST(IndexBase, CanBeSetToZero) {
  const EntriesFile file = read("1 1 5\n3 2 6\n", {.base = IndexBase::kZero});
  EXPECT_EQ(file.base, 0);
  EXPECT_EQ(file.entries.rows, 4);
  EXPECT_EQ(file.entries.row, (Indices{1, 3}));
}

TEST(IndexBase, OneRefusesAnIndexZero) {
  EXPECT_EQ(error_of("1 1 5\n3 0 6\n", {.base = IndexBase::kOne}),
            "x.csv:2: column index 0 found, 1 or more expected (counted from 1)");
}

TEST(Sizes, AreTakenFromTheOptions) {
  const Entries entries = read("1 1 5\n", {.rows = 7, .cols = 9}).entries;
  EXPECT_EQ(entries.rows, 7);
  EXPECT_EQ(entries.cols, 9);
}

TEST(Sizes, MayBeGivenForOneDimensionOnly) {
  const Entries entries = read("1 3 5\n", {.rows = 7}).entries;
  EXPECT_EQ(entries.rows, 7);
  EXPECT_EQ(entries.cols, 3);
}

TEST(Sizes, RefuseAnEntryOutside) {
  EXPECT_EQ(error_of("1 1 5\n2 4 5\n", {.rows = 3, .cols = 3}),
            "x.csv:2: entry (2, 4) found, a place inside 3 x 3 expected (counted from 1)");
  EXPECT_EQ(error_of("0 1 5\n3 1 5\n", {.rows = 3, .cols = 3}),
            "x.csv:2: entry (3, 1) found, a place inside 3 x 3 expected (counted from 0)");
}

TEST(Sizes, AcceptTheLargestIndex) {
  const Entries entries = read("0 2147483647 5\n", {.base = IndexBase::kZero}).entries;
  EXPECT_EQ(entries.cols, Index{1} << 31);
  EXPECT_EQ(entries.col, Indices{2147483647});
}

TEST(Sizes, MustNotBeNegative) {
  EXPECT_THROW(read("1 1 5\n", {.rows = -1}), InvalidArgument);
}

TEST(Repeats, WithEqualValuesAreKeptOnceAndCounted) {
  const EntriesFile file = read("1 1 5\n2 1 6\n1 1 5.0\n1 1 5\n");
  expect_entries(file.entries, {0, 1}, {0, 0}, {5, 6});
  EXPECT_EQ(file.warnings,
            Warnings{"x.csv: 2 repeated lines with equal values found, each entry kept once"});
}

TEST(Repeats, WithDifferentValuesAreRefusedNamingBothLines) {
  EXPECT_EQ(error_of("i j v\n2 1 5\n1 1 6\n\n2 1 5.0000000000000009\n"),
            "x.csv:5: (2, 1) has value 5.000000000000001 but (2, 1) has 5 in line 2, one value "
            "expected");
}

TEST(Symmetric, EntriesAreStoredOnOrAboveTheDiagonal) {
  const Entries entries = read("3 1 5\n2 2 6\n1 2 7\n", {.symmetric = true}).entries;
  EXPECT_TRUE(entries.symmetric);
  expect_entries(entries, {0, 0, 1}, {1, 2, 1}, {7, 5, 6});
}

TEST(Symmetric, MatricesAreSquareWithTheLargerSize) {
  const Entries entries = read("1 4 5\n2 1 6\n", {.symmetric = true}).entries;
  EXPECT_EQ(entries.rows, 4);
  EXPECT_EQ(entries.cols, 4);
}

TEST(Symmetric, MatricesTakeOneGivenSizeForBoth) {
  const Entries entries = read("1 4 5\n", {.symmetric = true, .cols = 6}).entries;
  EXPECT_EQ(entries.rows, 6);
  EXPECT_EQ(entries.cols, 6);
}

TEST(Symmetric, MatricesAreNotGivenTwoSizes) {
  EXPECT_THROW(read("1 1 5\n", {.symmetric = true, .rows = 3, .cols = 4}), InvalidArgument);
}

TEST(Symmetric, MirrorImagesAreOneEntryWithoutAWarning) {
  const EntriesFile file = read("2 1 5.0000000000001\n1 2 5\n2 2 1\n", {.symmetric = true});
  expect_entries(file.entries, {0, 1}, {1, 1}, {5, 1});
  EXPECT_EQ(file.warnings, Warnings{});
}

TEST(Symmetric, MirrorImagesThatDifferAreRefusedNamingBothPlaces) {
  EXPECT_EQ(error_of("2 1 5\n1 1 6\n1 2 5.00001\n", {.symmetric = true}),
            "x.csv:3: the file is not symmetric: (1, 2) has value 5.00001 but (2, 1) has 5 in line "
            "1, equal values expected");
}

TEST(Symmetric, LiteralRepeatsAreStillComparedExactly) {
  EXPECT_EQ(error_of("2 1 5\n2 1 5.0000000000001\n1 2 5\n", {.symmetric = true}),
            "x.csv:2: (2, 1) has value 5.0000000000001 but (2, 1) has 5 in line 1, one value "
            "expected");
}

struct BadText {
  const char* name;
  std::string text;
  std::string error;
};

void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}

class BadTriplets : public ::testing::TestWithParam<BadText> {};

TEST_P(BadTriplets, AreRefused) {
  EXPECT_EQ(error_of(GetParam().text), "x.csv:" + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Nothing, BadTriplets,
    ::testing::Values(BadText{"EmptyFile", "",
                              " empty file found, lines of row, column, value expected"},
                      BadText{"OnlyAByteOrderMark", "\xEF\xBB\xBF",
                              " no line with data found, lines of row, column, value expected"},
                      BadText{"OnlyComments", "# a\n\n% b\n",
                              " no line with data found, lines of row, column, value expected"},
                      BadText{"OnlyAHeader", "row,col,value\n",
                              " only a header found, lines of row, column, value expected"},
                      BadText{"Binary", std::string("PK\3\4\0\0", 6),
                              " binary data found (a zero byte), lines of text expected"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Shape, BadTriplets,
    ::testing::Values(
        BadText{"TwoColumns", "1 2\n",
                "1: 2 fields found, at least 3 expected (row, column, value separated by comma, "
                "semicolon, tab or blanks)"},
        BadText{"MovieLensColons", "1::2::5\n1::3::4\n",
                "1: 1 field found, at least 3 expected (row, column, value separated by comma, "
                "semicolon, tab or blanks)"},
        BadText{"RaggedLine", "1,2,3\n# c\n1,2\n", "3: 2 fields found, 3 expected"},
        BadText{"LongerLine", "1 2 3\n1 2 3 4\n", "2: 4 fields found, 3 expected"},
        BadText{"OtherSeparator", "1,2,3\n1 3 3\n", "2: 1 field found, 3 expected"},
        BadText{"ShortHeader", "a,b,c\n1,2,3,4\n", "2: 4 fields found, 3 expected"},
        BadText{"OpenQuote", "1,2,\"3\n", "1: '\"3' found, a closing quote expected"},
        BadText{"TextAfterQuote", "1,\"2\"x,3\n",
                "1: '\"2\"x,3' found, a separator after the closing quote expected"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Fields, BadTriplets,
    ::testing::Values(
        BadText{"TextValue", "1,2,abc\n",
                "1: text where a number belongs: 'abc' found, a value expected"},
        BadText{"TwoHeaders", "a,b,c\nd,e,f\n",
                "2: text where a number belongs: 'f' found, a value expected"},
        BadText{"DecimalComma", "1;2;3,5\n",
                "1: '3,5' found, a value with a decimal point expected"},
        BadText{"NumberAndText", "1,2,3x\n",
                "1: text where a number belongs: '3x' found, a value expected"},
        BadText{"ControlCharacters", "1,2,a\rb\x1b\xff\n",
                "1: text where a number belongs: 'a\\x0db\\x1b\\xff' found, a value expected"},
        BadText{"EmptyValue", "1,2,\n", "1: empty field found, a value expected"},
        BadText{"EmptyQuotes", "1,\"\",3\n", "1: empty field found, a column index expected"},
        BadText{"EmptyBetweenTabs", "1\t\t3\n", "1: empty field found, a column index expected"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadTriplets,
    ::testing::Values(
        BadText{"NaN", "1,2,nan\n", "1: value 'nan' found, a finite number expected"},
        BadText{"Infinity", "1,2,-inf\n", "1: value '-inf' found, a finite number expected"},
        BadText{"TooLargeAValue", "1,2,1e999\n",
                "1: value '1e999' found, a number within double precision expected"},
        BadText{"FractionalIndex", "3.5,2,1\n",
                "1: row index '3.5' found, a whole number expected"},
        BadText{"NegativeIndex", "1,2,1\n1,-2,1\n",
                "2: column index '-2' found, 0 or more expected"},
        BadText{"IndexNaN", "nan,1,1\n", "1: row index 'nan' found, at most 2147483647 expected"}),
    name_of);

TEST(BadTriplets, AreIndicesBeyond32BitsWhereIndicesAreAskedFor) {
  EXPECT_EQ(error_of("1,2147483648,1\n", {.base = IndexBase::kOne}),
            "x.csv:1: column index '2147483648' found, at most 2147483647 expected");
  EXPECT_EQ(error_of("1,x,1\n", {.base = IndexBase::kOne}),
            "x.csv:1: text where a number belongs: 'x' found, a column index expected");
}

TEST(BadTriplets, QuoteAtMostFortyCharactersOfAField) {
  const std::string error = error_of("1,2,3\n1,2," + std::string(1000, 'x') + "\n");
  EXPECT_EQ(error, "x.csv:2: text where a number belongs: '" + std::string(39, 'x') +
                       "...' found, a value expected");
}

TEST(BadTriplets, KeepUtf8InMessagesWhole) {
  EXPECT_EQ(error_of("1,2,\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n"),
            "x.csv:1: text where a number belongs: '\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80' found, a "
            "value expected");
}

TEST(BadTriplets, EscapeBrokenUtf8InMessages) {
  EXPECT_EQ(error_of("1,2,\xC3(\xC0\x80\xED\xA0\x80\n"),
            "x.csv:1: text where a number belongs: '\\xc3(\\xc0\\x80\\xed\\xa0\\x80' found, a "
            "value expected");
}

TEST(ReadEntries, NamesAMissingFile) {
  EXPECT_THROW(read_entries("/no/such/file.csv"), IoError);
}

}  // namespace triplets_test
}  // namespace udv::io

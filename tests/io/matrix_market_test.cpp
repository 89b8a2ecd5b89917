// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io {
namespace matrix_market_test {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kArray = "%%MatrixMarket matrix array real general\n";
const std::string kSymmetricArray = "%%MatrixMarket matrix array integer symmetric\n";

EntriesFile read(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  return read_entries_file(folder.write("x.mtx", text), options);
}

std::string error_of(const std::string& text, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.mtx", text);
  return folder.error_of([&] { read_entries_file(path, options); });
}

void expect_entries(const Entries& entries, const Indices& row, const Indices& col,
                    const Values& value) {
  EXPECT_EQ(entries.row, row);
  EXPECT_EQ(entries.col, col);
  EXPECT_EQ(entries.value, value);
}

TEST(MatrixMarket, ReadsCoordinatesAndSizes) {
  const EntriesFile file = read(kGeneral + "% remark\n\n3 4 2\n2 1 5\n1 4 -1e-3\n");
  EXPECT_EQ(file.entries.rows, 3);
  EXPECT_EQ(file.entries.cols, 4);
  EXPECT_EQ(file.base, 1);
  expect_entries(file.entries, {0, 1}, {3, 0}, {-1e-3, 5});
}

TEST(MatrixMarket, IgnoresTheCaseOfTheFirstLine) {
  const Entries entries =
      read("%%matrixmarket MATRIX Coordinate Integer General\n1 1 1\n1 1 3\n").entries;
  expect_entries(entries, {0}, {0}, {3});
}

TEST(MatrixMarket, IsRecognisedUnderAnotherName) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.txt", kGeneral + "5 5 1\n2 2 9\n");
  expect_entries(read_entries(path), {1}, {1}, {9});
}

TEST(MatrixMarket, ReadsAPackedFile) {
  const TemporaryFolder folder;
  // kGeneral + "1 1 1\n1 1 3\n", packed by Python's gzip module.
  const std::string packed = bytes_of_hex(
      "1f8b08000000000002035355f54d2c29caacf04d2cca4e2d51c805731492f3f38b5232f3124b52158a52"
      "137314d253f3528b1273b80c1580104c1a730100fe1fa8b93a000000");
  expect_entries(read_entries(folder.write("x.mtx.gz", packed)), {0}, {0}, {3});
}

TEST(MatrixMarket, ExpandsASymmetricFileToBothTriangles) {
  const Entries entries = read(kSymmetric + "3 3 3\n2 1 5\n3 3 7\n3 1 6\n").entries;
  EXPECT_FALSE(entries.symmetric);
  expect_entries(entries, {0, 0, 1, 2, 2}, {1, 2, 0, 0, 2}, {5, 6, 5, 6, 7});
}

TEST(MatrixMarket, KeepsOneTriangleOfASymmetricFileWhereAsked) {
  const Entries entries = read(kSymmetric + "3 3 2\n2 1 5\n3 3 7\n", {.symmetric = true}).entries;
  EXPECT_TRUE(entries.symmetric);
  expect_entries(entries, {0, 2}, {1, 2}, {5, 7});
}

TEST(MatrixMarket, CountsARepeatInASymmetricFileOnce) {
  const EntriesFile file = read(kSymmetric + "2 2 2\n2 1 5\n2 1 5\n");
  ASSERT_EQ(file.warnings.size(), 1u);
  EXPECT_NE(file.warnings[0].find(": 1 repeated line with equal values"), std::string::npos);
  expect_entries(file.entries, {0, 1}, {1, 0}, {5, 5});
}

TEST(MatrixMarket, FoldsAGeneralFileWhereSymmetryIsAsked) {
  const Entries entries = read(kGeneral + "2 2 2\n2 1 5\n1 2 5\n", {.symmetric = true}).entries;
  expect_entries(entries, {0}, {1}, {5});
}

TEST(MatrixMarket, ReadsAnArrayColumnByColumn) {
  const EntriesFile file = read(kArray + "2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(file.base, 1);
  expect_entries(file.entries, {0, 0, 0, 1, 1, 1}, {0, 1, 2, 0, 1, 2}, {1, 3, 5, 2, 4, 6});
}

TEST(MatrixMarket, ReadsASymmetricArray) {
  const std::string text = kSymmetricArray + "2 2\n1\n2\n3\n";
  expect_entries(read(text).entries, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2, 2, 3});
  expect_entries(read(text, {.symmetric = true}).entries, {0, 0, 1}, {0, 1, 1}, {1, 2, 3});
}

TEST(MatrixMarket, NamesBothPlacesOfAnArrayThatIsNotSymmetric) {
  EXPECT_EQ(error_of(kArray + "2 2\n1\n2\n3\n4\n", {.symmetric = true}),
            "x.mtx: the file is not symmetric: (2, 1) has value 2 but (1, 2) has 3, equal values "
            "expected");
}

TEST(MatrixMarket, RefusesSizesOtherThanThoseAsked) {
  const std::string text = kGeneral + "3 4 1\n1 1 1\n";
  EXPECT_EQ(error_of(text, {.rows = 5}), "x.mtx:2: 3 x 4 matrix found, 5 rows expected");
  EXPECT_EQ(error_of(text, {.cols = 5}), "x.mtx:2: 3 x 4 matrix found, 5 columns expected");
  EXPECT_EQ(error_of(text, {.rows = 3, .cols = 4}), "no error");
  EXPECT_EQ(error_of(text, {.symmetric = true}),
            "x.mtx:2: 3 x 4 matrix found, a square one expected");
}

TEST(MatrixMarket, RefusesToCountFromZero) {
  EXPECT_EQ(error_of(kGeneral + "1 1 1\n1 1 1\n", {.base = IndexBase::kZero}),
            "x.mtx: counting from 0 asked for, but Matrix Market files count from 1");
}

struct BadText {
  const char* name;
  std::string text;
  std::string error;
};

void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}

class BadMatrixMarket : public ::testing::TestWithParam<BadText> {};

TEST_P(BadMatrixMarket, IsRefused) {
  EXPECT_EQ(error_of(GetParam().text), "x.mtx:" + GetParam().error);
}

constexpr auto name_of = [](const auto& test) { return std::string(test.param.name); };

std::string banner(const std::string& words) {
  return "%%MatrixMarket matrix " + words + "\n1 1 1\n1 1 1\n";
}

INSTANTIATE_TEST_SUITE_P(
    Banner, BadMatrixMarket,
    ::testing::Values(
        BadText{"Empty", "", " empty file found, a Matrix Market file expected"},
        BadText{"Missing", "1 1 1\n1 1 5\n",
                "1: '1 1 1' found, '%%MatrixMarket matrix FORMAT FIELD SYMMETRY' expected"},
        BadText{"Short", "%%MatrixMarket matrix\n",
                "1: '%%MatrixMarket matrix' found, '%%MatrixMarket matrix FORMAT FIELD SYMMETRY' "
                "expected"},
        BadText{"Vector", "%%MatrixMarket vector array real general\n",
                "1: '%%MatrixMarket vector array real genera...' found, '%%MatrixMarket matrix "
                "FORMAT FIELD SYMMETRY' expected"},
        BadText{"Format", banner("dense real general"),
                "1: format 'dense' found, coordinate or array expected"},
        BadText{"Pattern", banner("coordinate pattern general"),
                "1: field 'pattern' found, real or integer expected"},
        BadText{"Complex", banner("coordinate complex general"),
                "1: field 'complex' found, real or integer expected"},
        BadText{"SkewSymmetric", banner("coordinate real skew-symmetric"),
                "1: symmetry 'skew-symmetric' found, general or symmetric expected"},
        BadText{"Hermitian", banner("coordinate real Hermitian"),
                "1: symmetry 'Hermitian' found, general or symmetric expected"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Sizes, BadMatrixMarket,
    ::testing::Values(
        BadText{"Missing", kGeneral + "% end\n",
                "2: end of file found, a line with the sizes expected"},
        BadText{"TwoFields", kGeneral + "3 4\n", "2: 2 fields found, 3 expected"},
        BadText{"Zero", kGeneral + "0 4 1\n1 1 1\n",
                "2: 0 x 4 matrix found, at least 1 x 1 expected"},
        BadText{"Negative", kGeneral + "-3 4 1\n",
                "2: count '-3' found, a whole number of 0 or more expected"},
        BadText{"Text", kGeneral + "3 x 1\n",
                "2: text where a number belongs: 'x' found, a count expected"},
        BadText{"TooLarge", kGeneral + "3 2147483649 1\n1 1 1\n",
                "2: 3 x 2147483649 matrix found, at most 2147483648 rows and columns expected"},
        BadText{"NoEntries", kGeneral + "3 4 0\n", "2: 0 entries declared, at least 1 expected"},
        BadText{"NotSquare", kSymmetric + "3 4 1\n1 1 1\n",
                "2: 3 x 4 matrix found, a square one expected in a symmetric file"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Entries, BadMatrixMarket,
    ::testing::Values(
        BadText{"TooFew", kGeneral + "3 4 5\n1 1 1\n",
                "3: end of file found after 1 entry, 5 expected by line 2"},
        BadText{"TooMany", kGeneral + "3 4 1\n1 1 1\n1 2 1\n",
                "4: more than 1 entries found, 1 expected by line 2"},
        BadText{"LyingCount", kGeneral + "3 4 4000000000000\n1 1 1\n",
                "3: end of file found after 1 entry, 4000000000000 expected by line 2"},
        BadText{"LyingArray", kArray + "2000000000 2000000000\n1\n2\n",
                "4: end of file found after 2 entries, 4000000000000000000 expected by line 2"},
        BadText{"LongArray", kArray + "1 1\n1\n2\n",
                "4: more than 1 entries found, 1 expected by line 2"},
        BadText{"TwoArrayValuesInALine", kArray + "1 2\n1 2\n", "3: 2 fields found, 1 expected"},
        BadText{"RowOutside", kGeneral + "3 4 1\n4 1 1\n", "3: row index 4 found, 1 to 3 expected"},
        BadText{"ColumnZero", kGeneral + "3 4 1\n1 0 1\n",
                "3: column index 0 found, 1 to 4 expected"},
        BadText{"AboveTheDiagonal", kSymmetric + "3 3 1\n1 2 1\n",
                "3: entry (1, 2) above the diagonal found, the lower triangle expected in a "
                "symmetric file"},
        BadText{"Conflict", kSymmetric + "3 3 2\n2 1 1\n2 1 2\n",
                "4: (2, 1) has value 2 but (2, 1) has 1 in line 3, one value expected"},
        BadText{"NotAnInteger", kSymmetricArray + "1 1\n2.5\n",
                "3: value '2.5' found, an integer expected by the first line"},
        BadText{"NaN", kArray + "1 1\nnan\n", "3: value 'nan' found, a finite number expected"}),
    name_of);

}  // namespace matrix_market_test
}  // namespace udv::io

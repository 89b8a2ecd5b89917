// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace dense_entries_test {

using Indices = std::vector<std::int32_t>;
using Values = std::vector<double>;

struct Dense {
  std::vector<Index> shape;
  Values values;
};

EntriesFile read(const Dense& dense, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.npy", npy_bytes(dense.shape, dense.values.data()));
  return read_entries_file(path, options);
}

std::string error_of(const Dense& dense, const EntriesOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.npy", npy_bytes(dense.shape, dense.values.data()));
  return folder.error_of([&] { read_entries_file(path, options); });
}

TEST(DenseEntries, AreTheValuesThatAreNotNaN) {
  const EntriesFile file = read({{2, 3}, {NAN, 1, 2, 3, NAN, 0}});
  EXPECT_EQ(file.base, 0);
  EXPECT_EQ(file.entries.rows, 2);
  EXPECT_EQ(file.entries.cols, 3);
  EXPECT_EQ(file.entries.row, (Indices{0, 0, 1, 1}));
  EXPECT_EQ(file.entries.col, (Indices{1, 2, 0, 2}));
  EXPECT_EQ(file.entries.value, (Values{1, 2, 3, 0}));
}

TEST(DenseEntries, TakeASymmetricValueFromEitherTriangle) {
  const Entries entries =
      read({{3, 3}, {1, 2, NAN, 2, NAN, NAN, 5, NAN, 9}}, {.symmetric = true}).entries;
  EXPECT_TRUE(entries.symmetric);
  EXPECT_EQ(entries.row, (Indices{0, 0, 0, 2}));
  EXPECT_EQ(entries.col, (Indices{0, 1, 2, 2}));
  EXPECT_EQ(entries.value, (Values{1, 2, 5, 9}));
}

TEST(DenseEntries, ForgiveRoundingBetweenMirrorImages) {
  const Entries entries = read({{2, 2}, {1, 2, 2 + 1e-12, 1}}, {.symmetric = true}).entries;
  EXPECT_EQ(entries.value, (Values{1, 2, 1}));
}

TEST(DenseEntries, RefuseMirrorImagesThatDiffer) {
  EXPECT_EQ(error_of({{2, 2}, {1, 2, 2.5, 1}}, {.symmetric = true}),
            "x.npy: the file is not symmetric: (1, 0) has value 2.5 but (0, 1) has 2, equal values "
            "expected");
}

TEST(DenseEntries, RefuseAnInfiniteValueNamingItsIndex) {
  EXPECT_EQ(error_of({{2, 2}, {1, NAN, -INFINITY, 1}}),
            "x.npy: infinite value found at index (1, 0), a finite number or NaN expected");
}

TEST(DenseEntries, RefuseOtherNumbersOfDimensions) {
  EXPECT_EQ(error_of({{4}, {1, 2, 3, 4}}),
            "x.npy: array of shape 4 found, a matrix (2 dimensions) expected");
  EXPECT_EQ(error_of({{1, 2, 2}, {1, 2, 3, 4}}),
            "x.npy: array of shape 1 x 2 x 2 found, a matrix (2 dimensions) expected");
}

TEST(DenseEntries, RefuseAMatrixWithoutKnownEntries) {
  EXPECT_EQ(error_of({{1, 2}, {NAN, NAN}}),
            "x.npy: only NaN found, at least one known entry expected");
  EXPECT_EQ(error_of({{0, 2}, {}}), "x.npy: 0 x 2 matrix found, at least 1 x 1 expected");
}

TEST(DenseEntries, RefuseSizesOtherThanThoseAsked) {
  const Dense dense{{1, 2}, {1, 2}};
  EXPECT_EQ(error_of(dense, {.rows = 2}), "x.npy: 1 x 2 matrix found, 2 rows expected");
  EXPECT_EQ(error_of(dense, {.symmetric = true}),
            "x.npy: 1 x 2 matrix found, a square one expected");
}

TEST(DenseEntries, OfZerosAreNoError) {
  EXPECT_EQ(read({{1, 2}, {0, 0}}).entries.size(), 2);
}

}  // namespace dense_entries_test
}  // namespace udv::io

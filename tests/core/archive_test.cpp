// SPDX-License-Identifier: MIT
#include "core/archive.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "support/random_data.hpp"

namespace udv {

struct Record {
  int number = 0;
  bool yes = false;
  std::string name;
  std::vector<double> list;
  RowMatrix<double> matrix;
  Vector<double> vector;
  std::vector<Vector<double>> nested;
};

template <typename Archive>
void fields(Archive& archive, Record& r) {
  archive(r.number, r.yes, r.name, r.list, r.matrix, r.vector, r.nested);
}

namespace archive_test {

using testing::error_of;
using testing::random_rows;
using testing::random_vector;

Record sample() {
  Record record{-7, true, "a name", {1, 2.5}, random_rows(3, 2, 1), random_vector(4, 2), {}};
  record.nested = {random_vector(2, 3), Vector<double>()};
  return record;
}

std::string bytes_of(Record record) {
  ArchiveWriter writer;
  writer(record);
  return writer.take();
}

Record read(std::string_view bytes) {
  ArchiveReader reader(bytes);
  Record record;
  reader(record);
  return record;
}

TEST(Archive, RoundTripsEveryKindOfMember) {
  const Record before = sample();
  const Record after = read(bytes_of(before));
  EXPECT_EQ(after.number, before.number);
  EXPECT_EQ(after.yes, before.yes);
  EXPECT_EQ(after.name, before.name);
  EXPECT_EQ(after.list, before.list);
  EXPECT_EQ(after.matrix, before.matrix);
  EXPECT_EQ(after.vector, before.vector);
  EXPECT_EQ(after.nested, before.nested);
}

TEST(Archive, RoundTripsEmptyMembers) {
  Record before;
  before.matrix.resize(5, 0);
  const Record after = read(bytes_of(before));
  EXPECT_EQ(after.matrix.rows(), 5);
  EXPECT_EQ(after.matrix.cols(), 0);
  EXPECT_TRUE(after.name.empty() && after.list.empty() && after.nested.empty());
}

TEST(Archive, IsAtItsEndAfterTheLastMember) {
  const std::string bytes = bytes_of(sample());
  ArchiveReader reader(bytes);
  EXPECT_FALSE(reader.at_end());
  Record record;
  reader(record);
  EXPECT_TRUE(reader.at_end());
}

TEST(Archive, ThrowsWhereverTheBytesAreCutShort) {
  const std::string bytes = bytes_of(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read(std::string_view(bytes).substr(0, size)), InvalidArgument) << size;
}

TEST(Archive, RefusesAListThatCannotFitBeforeMakingRoomForIt) {
  ArchiveWriter writer;
  std::uint64_t announced = std::uint64_t{1} << 60;
  writer(announced);
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  std::vector<double> list;
  EXPECT_EQ(error_of([&] { reader(list); }),
            "checkpoint: 1152921504606846976 items announced, 0 bytes left");
}

TEST(Archive, RefusesAMatrixWhoseSizesOverflow) {
  ArchiveWriter writer;
  std::int64_t rows = std::int64_t{1} << 62, cols = 8;
  writer(rows, cols);
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  RowMatrix<double> matrix;
  EXPECT_EQ(error_of([&] { reader(matrix); }),
            "checkpoint: a matrix of 4611686018427387904 x 8 announced, 0 bytes left");
}

TEST(Archive, RefusesATruthValueThatIsNone) {
  const std::string bytes = "\x02";
  ArchiveReader reader(bytes);
  bool yes = false;
  EXPECT_EQ(error_of([&] { reader(yes); }), "checkpoint: 2 where yes or no (1 or 0) is expected");
}

// A record takes 100 bytes of memory and more; here each announced one has a single byte.
TEST(Archive, MakesRoomForAListItemByItem) {
  std::uint64_t announced = 1 << 20;
  ArchiveWriter writer;
  writer(announced);
  const std::string bytes = writer.take() + std::string(1 << 20, '\xff');
  ArchiveReader reader(bytes);
  std::vector<Record> list;
  EXPECT_THROW(reader(list), InvalidArgument);
  EXPECT_LE(list.capacity(), 2u);
}

TEST(Archive, RefusesAMatrixOfNegativeSize) {
  ArchiveWriter writer;
  std::int64_t rows = -1, cols = -1;
  writer(rows, cols);
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  RowMatrix<double> matrix;
  EXPECT_THROW(reader(matrix), InvalidArgument);
}

TEST(Archive, RefusesAMatrixWhereAVectorIsExpected) {
  ArchiveWriter writer;
  RowMatrix<double> matrix = random_rows(2, 3, 1);
  writer(matrix);
  const std::string bytes = writer.take();
  ArchiveReader reader(bytes);
  Vector<double> vector;
  EXPECT_THROW(reader(vector), InvalidArgument);
}

}  // namespace archive_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "temporary_files.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace npz_test {

using Arrays = std::vector<std::pair<std::string, Array>>;

// Made by Python's zipfile, deflated: t.npy holds text, notes.txt is no array, a.npy = uint8 [1,
// 2].
const char* const kMixedArchive =
    "504b030414000000080000002100ba1b0553450000004800000005000000742e6e70799bec17ea1b10c9c860c5"
    "50ad9e925a9c5ca46ea5a06e136aa8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91a863a9a3a0ab55c150c0c0c00504b030414000000080000002100ac2a93d80400000002000000090000006e"
    "6f7465732e747874cbc80400504b030414000000080000002100b5cbaf76430000004600000005000000612e6e"
    "70799bec17ea1b10c9c860c550ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94920a1277"
    "4bcc294e058a17672416a402f91a463a9a3a0ab55c8c4c00504b0102140314000000080000002100ba1b055345"
    "00000048000000050000000000000000000000800100000000742e6e7079504b01021403140000000800000021"
    "00ac2a93d804000000020000000900000000000000000000008001680000006e6f7465732e747874504b010214"
    "0314000000080000002100b5cbaf764300000046000000050000000000000000000000800193000000612e6e70"
    "79504b050600000000030003009d000000f90000000000";
// The same way: c.npy holds one complex number.
const char* const kComplexArchive =
    "504b030414000000080000002100822595a6440000004c00000005000000632e6e70799bec17ea1b10c9c860c5"
    "50ad9e925a9c5ca46ea5a06e936ca1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91a863a9a3a0ab55c0c500000504b0102140314000000080000002100822595a6440000004c00000005000000"
    "0000000000000000800100000000632e6e7079504b0506000000000100010033000000670000000000";

const Arrays kArrays{
    {"U", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"d", {{2}, {-1, 0.5}}}, {"s", {{}, {7}}}};

std::string written_bytes() {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", kArrays);
  return read_bytes(folder / "x.npz");
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.npz", bytes);
  return folder.error_of([&] { read_npz(path); });
}

TEST(Npz, RoundTripsNamesShapesAndValuesInOrder) {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", kArrays);
  const Arrays arrays = read_npz(folder / "x.npz");
  ASSERT_EQ(arrays.size(), kArrays.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    EXPECT_EQ(arrays[k].first, kArrays[k].first);
    EXPECT_EQ(arrays[k].second.shape, kArrays[k].second.shape);
    EXPECT_EQ(arrays[k].second.values, kArrays[k].second.values);
  }
}

TEST(Npz, RoundTripsAnArrayLargerThanOneChunk) {
  const TemporaryFolder folder;
  Array array{{100, 1000}, std::vector<double>(100000)};
  for (std::size_t k = 0; k < 100000; ++k) array.values[k] = static_cast<double>(k) / 3;
  write_npz(folder / "x.npz", {{"big", array}});
  EXPECT_EQ(read_npz(folder / "x.npz").at(0).second.values, array.values);
}

TEST(Npz, GivesEqualFilesForEqualArrays) {
  EXPECT_EQ(written_bytes(), written_bytes());
}

TEST(Npz, StoresTheBytesOfAnNpyFileUncompressed) {
  const std::string npy = npy_bytes({2, 3}, kArrays[0].second.values.data());
  EXPECT_NE(written_bytes().find(npy), std::string::npos);
}

TEST(Npz, RefusesToWriteNothingOrAShapeThatDoesNotMatch) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_npz(folder / "x.npz", {}), InvalidArgument);
  EXPECT_THROW(write_npz(folder / "x.npz", {{"a", {{3}, {1, 2}}}}), InvalidArgument);
}

TEST(Npz, RefusesToWriteANameTwice) {
  const TemporaryFolder folder;
  const Array one{{1}, {1}};
  EXPECT_EQ(folder.error_of([&] {
    write_npz(folder / "x.npz", {{"a", one}, {"a", one}});
  }),
            "x.npz: array 'a.npy' cannot be added: File already exists");
}

TEST(Npz, ReadsDeflatedArraysAndSkipsWhatIsNotNumeric) {
  const TemporaryFolder folder;
  const Arrays arrays = read_npz(folder.write("x.npz", bytes_of_hex(kMixedArchive)));
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].first, "a");
  EXPECT_EQ(arrays[0].second.values, (std::vector<double>{1, 2}));
}

TEST(Npz, RefusesComplexNumbers) {
  EXPECT_EQ(error_of(bytes_of_hex(kComplexArchive)),
            "x.npz: array 'c.npy': data type '<c8' found, booleans, integers or floats of at most "
            "8 bytes expected");
}

TEST(Npz, RefusesAnEmptyFile) {
  EXPECT_EQ(error_of(""), "x.npz: empty file found, an .npz archive expected");
}

TEST(Npz, RefusesWhatIsNoArchive) {
  EXPECT_EQ(error_of("row,col,value\n1,2,3\n"),
            "x.npz: an .npz archive expected, but libzip says: Not a zip archive");
}

TEST(Npz, RefusesAnArchiveCutInHalf) {
  const std::string bytes = written_bytes();
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() / 2)),
            "x.npz: an .npz archive expected, but libzip says: Not a zip archive");
}

TEST(Npz, RefusesAWrongByteInTheData) {
  std::string bytes = written_bytes();
  const std::string npy = npy_bytes({2, 3}, kArrays[0].second.values.data());
  bytes[bytes.find(npy) + 150] ^= 1;
  EXPECT_EQ(error_of(bytes), "x.npz: array 'U.npy': damaged archive found: CRC error");
}

}  // namespace npz_test
}  // namespace udv::io

// SPDX-License-Identifier: MIT
#include "udv/io/images.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"

namespace udv::io {
namespace images_test {

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    const std::string text = error.what();
    return text.substr(text.rfind('/', text.find(": ")) + 1);
  }
  return "no error";
}

const std::string kImages = bytes_of_hex("0000080300000002000000020000000201020304050607ff");
const std::string kLabels = bytes_of_hex("00000801000000020301");

TEST(Idx, ReadsImagesWithTheirLabels) {
  const TemporaryFolder folder;
  const auto images =
      read_idx_pair(folder.write("images", kImages), folder.write("labels", kLabels));
  EXPECT_EQ(images.count, 2);
  EXPECT_EQ(images.pixels, 4);
  EXPECT_EQ(images.bytes, bytes_of_hex("01020304050607ff"));
  EXPECT_EQ(images.labels, (std::vector<std::int32_t>{3, 1}));
  EXPECT_EQ(images.classes, 4);
}

TEST(Idx, RefusesWhatIsCutOffOrOfAnotherKind) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) {
    return error_of([&] { read_idx(folder.write("f", bytes)); });
  };
  EXPECT_EQ(read(kImages.substr(0, kImages.size() - 1)),
            "f: shape 2 x 2 x 2 announced (8 bytes), 7 found");
  EXPECT_EQ(read(kImages + "x"), "f: shape 2 x 2 x 2 announced (8 bytes), 9 found");
  EXPECT_EQ(read(kImages.substr(0, 9)), "f: ends within its header");
  EXPECT_EQ(read(bytes_of_hex("00000d0100000000")),
            "f: type 13 found, 8 (unsigned bytes) expected");
  EXPECT_EQ(read("PNG"),
            "f: no IDX file (two zero bytes, a type and a number of dimensions expected)");
  EXPECT_NE(read(bytes_of_hex("00000803ffffffffffffffffffffffff")).find("announced"),
            std::string::npos);
}

TEST(Idx, WantsALabelForEachImage) {
  const TemporaryFolder folder;
  const auto images = folder.write("i", kImages);
  const auto labels = folder.write("l", bytes_of_hex("0000080100000001"
                                                     "03"));
  EXPECT_EQ(error_of([&] { read_idx_pair(images, labels); }).substr(0, 29),
            "l: 1 labels found, 2 expected");
}

std::string record(std::initializer_list<int> labels, char pixel) {
  std::string bytes;
  for (const int label : labels) bytes += static_cast<char>(label);
  return bytes + std::string(3072, pixel);
}

TEST(Cifar, ReadsRecordsOfBothKinds) {
  const TemporaryFolder folder;
  const auto ten = read_cifar(
      {folder.write("a", record({3}, 'x') + record({9}, 'y')), folder.write("b", record({0}, 'z'))},
      false);
  EXPECT_EQ(ten.labels, (std::vector<std::int32_t>{3, 9, 0}));
  EXPECT_EQ(ten.bytes[3072], 'y');
  const auto hundred = read_cifar({folder.write("c", record({7, 99}, 'x'))}, true);
  EXPECT_EQ(hundred.labels, (std::vector<std::int32_t>{99}));
  EXPECT_EQ(hundred.classes, 100);
}

TEST(Cifar, RefusesTornRecordsAndStrangeLabels) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_cifar({folder.write("a", std::string(3072, 'x'))}, false); }),
            "a: 3072 bytes found, a multiple of 3073 expected");
  EXPECT_EQ(error_of([&] { read_cifar({folder.write("a", record({10}, 'x'))}, false); }),
            "a: label 10 in record 1 found, 0 to 9 expected");
}

}  // namespace images_test
}  // namespace udv::io

// SPDX-License-Identifier: MIT
#include "udv/io/png.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "damaged_files.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace png_test {

using Gray = RowMatrix<std::uint8_t>;

Gray ramp(Index rows, Index cols) {
  Gray gray(rows, cols);
  for (Index k = 0; k < gray.size(); ++k) gray.data()[k] = static_cast<std::uint8_t>(37 * k);
  return gray;
}

std::string png_bytes(const Gray& gray) {
  const TemporaryFolder folder;
  write_png(folder / "x.png", gray);
  return read_bytes(folder / "x.png");
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.png", bytes);
  return folder.error_of([&] { read_png_gray(path); });
}

TEST(Png, RoundTripsGrayOfSeveralSizes) {
  const TemporaryFolder folder;
  for (const auto& [rows, cols] : {std::pair(1, 1), std::pair(5, 3), std::pair(1, 300)}) {
    write_png(folder / "x.png", ramp(rows, cols));
    EXPECT_EQ(read_png_gray(folder / "x.png"), ramp(rows, cols)) << rows << " x " << cols;
  }
}

TEST(Png, IsDescribedByItsFirstBytes) {
  const TemporaryFolder folder;
  const std::string bytes = png_bytes(ramp(5, 300));
  const PngInfo info = describe_png(folder.write("x.png", bytes.substr(0, 26)));
  EXPECT_EQ(info.height, 5);
  EXPECT_EQ(info.width, 300);
  EXPECT_EQ(info.bits, 8);
  EXPECT_EQ(info.colour, "gray");
  for (std::size_t size = 0; size < 26; ++size) {
    const auto path = folder.write("x.png", bytes.substr(0, size));
    EXPECT_TRUE(folder.error_of([&] { describe_png(path); }).starts_with("x.png: ")) << size;
  }
  std::string other = bytes;
  other[25] = 5;
  const auto path = folder.write("x.png", other);
  EXPECT_EQ(folder.error_of([&] { describe_png(path); }),
            "x.png: 5 x 300 pixels of colour type 5 found, a picture of type 0, 2, 3, 4 or 6 "
            "expected");
}

TEST(Png, RoundTripsNoiseThatCannotBePacked) {
  const TemporaryFolder folder;
  const std::string noise = random_bytes(200 * 300);
  const Gray gray =
      Eigen::Map<const Gray>(reinterpret_cast<const std::uint8_t*>(noise.data()), 200, 300);
  write_png(folder / "x.png", gray);
  EXPECT_EQ(read_png_gray(folder / "x.png"), gray);
}

TEST(Png, WritesEqualFilesForEqualImages) {
  EXPECT_EQ(png_bytes(ramp(7, 9)), png_bytes(ramp(7, 9)));
}

TEST(Png, ReadsColoursByLuminance) {
  const TemporaryFolder folder;
  write_png(folder / "x.png", {1, 4, {9, 9, 9, 255, 0, 0, 0, 255, 0, 0, 0, 255}});
  const Gray gray = read_png_gray(folder / "x.png");
  ASSERT_EQ(gray.rows(), 1);
  ASSERT_EQ(gray.cols(), 4);
  EXPECT_EQ(gray(0), 9);        // a gray colour stays itself
  EXPECT_GT(gray(2), gray(1));  // green is brighter than red
  EXPECT_GT(gray(1), gray(3));  // and red than blue
}

// A chunk as PNG files have them.
std::string chunk(const std::string& name, const std::string& content) {
  const auto number = [](std::uint64_t value) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255);
    return bytes;
  };
  const std::string body = name + content;
  const auto* const start = reinterpret_cast<const unsigned char*>(body.data());
  return number(content.size()) + body + number(crc32(0, start, static_cast<uInt>(body.size())));
}

// What the file says of its colours, behind the header of 33 bytes; its own words go.
std::string with_gamma(std::string png, std::uint32_t gamma) {
  for (const char* told : {"gAMA", "sRGB", "cHRM"})
    if (const auto at = png.find(told); at != png.npos) {
      const auto length = static_cast<std::size_t>(static_cast<unsigned char>(png[at - 1]));
      png.erase(at - 4, length + 12);
    }
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(gamma >> shift & 255);
  return png.insert(33, chunk("gAMA", bytes));
}

TEST(Png, NumbersStayAsTheyAreStoredWhateverTheGamma) {
  const TemporaryFolder folder;
  RowMatrix<std::uint16_t> deep(2, 3);
  deep << 0, 1, 300, 20000, 40000, 65535;
  write_png16(folder / "deep.png", deep);
  const std::string bytes = read_bytes(folder / "deep.png");
  for (const std::uint32_t gamma : {45455u, 100000u, 55556u}) {
    folder.write("deep.png", with_gamma(bytes, gamma));
    EXPECT_EQ(read_png_levels(folder / "deep.png"), deep) << gamma;
    folder.write("x.png", with_gamma(png_bytes(ramp(4, 60)), gamma));
    EXPECT_EQ(read_png_gray(folder / "x.png"), ramp(4, 60)) << gamma;
    EXPECT_EQ(read_png_levels(folder / "x.png"), ramp(4, 60).cast<std::uint16_t>()) << gamma;
  }
}

TEST(Png, LevelsOfEqualColoursAreGrayAndOfOthersAreRefused) {
  const TemporaryFolder folder;
  write_png(folder / "x.png", RgbImage{1, 3, {9, 9, 9, 255, 255, 255, 7, 7, 7}});
  EXPECT_EQ(read_png_levels(folder / "x.png"),
            (RowMatrix<std::uint16_t>(1, 3) << 9, 255, 7).finished());
  write_png(folder / "x.png", RgbImage{1, 3, {9, 9, 9, 255, 255, 254, 7, 7, 7}});
  EXPECT_EQ(folder.error_of([&] { read_png_levels(folder / "x.png"); }),
            "x.png: a picture in colours found, a gray one expected (the channel of the light by "
            "itself)");
}

TEST(Png, RefusesToWriteImagesWithoutPixelsOrOfAnotherSize) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_png(folder / "x.png", Gray(0, 3)), InvalidArgument);
  EXPECT_THROW(write_png(folder / "x.png", RgbImage{}), InvalidArgument);
  EXPECT_THROW(write_png(folder / "x.png", RgbImage{2, 2, std::vector<std::uint8_t>(4)}),
               InvalidArgument);
}

TEST(Png, NamesAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { write_png(folder / "no/x.png", ramp(2, 2)); }),
            "no/x.png: cannot be opened for writing: No such file or directory");
  EXPECT_EQ(folder.error_of([&] { read_png_gray(folder / "x.png"); }),
            "x.png: no such file, a file to read expected");
}

TEST(Png, RefusesWhatIsNoPngFile) {
  EXPECT_EQ(error_of(""), "x.png: '' found as first bytes, \\x89PNG of a PNG file expected");
  EXPECT_EQ(error_of("GIF89a.."),
            "x.png: 'GIF89a..' found as first bytes, \\x89PNG of a PNG file expected");
}

TEST(Png, RefusesAFileCutAnywhere) {
  const std::string bytes = png_bytes(ramp(6, 5));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(error_of(bytes.substr(0, length)), "no error") << length;
  }
}

TEST(Png, RefusesAnImageFarLargerThanItsFile) {
  // 1000000 x 1000000 gray pixels, a right checksum, no data.
  const std::string bytes = bytes_of_hex(
      "89504e470d0a1a0a0000000d49484452000f4240000f42400800000000790667a1"
      "0000000049444154"
      "35af061e0000000049454e44ae426082");
  EXPECT_EQ(error_of(bytes),
            "x.png: 1000000 x 1000000 pixels announced in a file of 57 bytes, a smaller image "
            "expected");
}

TEST(Png, SurvivesFlippedBytes) {
  expect_survives_flipped_bytes("x.png", png_bytes(ramp(6, 5)), read_png_gray);
}

}  // namespace png_test
}  // namespace udv::io

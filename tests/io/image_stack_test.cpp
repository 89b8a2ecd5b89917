// SPDX-License-Identifier: MIT
// Stacks of images: TIFF files, folders of pictures, .npy files.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <fstream>

#include "io/image_folder.hpp"
#include "io/temporary_files.hpp"
#include "udv/io/expansion.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/io/tiff.hpp"
#include "udv/io/variables.hpp"

namespace udv::io {
namespace image_stack_test {

// Pages of 16-bit numbers 100 page + 10 row + column.
void write_pages(const std::filesystem::path& path, int pages, std::uint32_t rows = 2,
                 std::uint32_t cols = 3, std::uint16_t channels = 1) {
  TIFF* const file = TIFFOpen(path.c_str(), "w");
  for (int page = 0; page < pages; ++page) {
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, cols);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, rows);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    for (std::uint32_t r = 0; r < rows; ++r) {
      std::vector<std::uint16_t> line;
      for (std::uint32_t c = 0; c < cols * channels; ++c)
        line.push_back(static_cast<std::uint16_t>(100 * page + 10 * int(r) + int(c)));
      TIFFWriteScanline(file, line.data(), r, 0);
    }
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

TEST(ImageStack, OfATiffFileIsOneVariable) {
  const TemporaryFolder folder;
  write_pages(folder / "stack.tif", 4);
  const VariableFile file(folder / "stack.tif");
  ASSERT_EQ(file.variables().size(), 1u);
  EXPECT_EQ(variable_text(file.variables()[0]), "images (4 x 2 x 3 uint16)");
  const ComplexArray array = file.read("images");
  EXPECT_EQ(array.values[3 * 6 + 1 * 3 + 2], 312.0);
}

TEST(ImageStack, OfAFolderIsInNaturalOrder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "images");
  write_pages(folder / "images/a10.tiff", 1);
  RowMatrix<std::uint16_t> picture(2, 3);
  picture << 1, 2, 3, 4, 5, 60000;
  write_png16(folder / "images/a9.png", picture);
  EXPECT_EQ(read_png_levels(folder / "images/a9.png"), picture);
  const VariableFile file(folder / "images");
  const ComplexArray array = file.read("images");
  EXPECT_EQ(array.shape, (std::vector<Index>{2, 2, 3}));
  EXPECT_EQ(array.values[5], 60000.0);
  EXPECT_EQ(array.values[6 + 4], 11.0);
  EXPECT_TRUE(detail::comes_before("led2", "led10"));
  EXPECT_TRUE(detail::comes_before("led002", "led10"));
  EXPECT_FALSE(detail::comes_before("led10", "led9"));
}

TEST(ImageStack, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  RowMatrix<float> values(2, 3);
  values << 1.5f, -2, 3, 4, 5, 1e-9f;
  write_tiff(folder / "image.tif", values, 0.5e-6);
  const ComplexArray array = VariableFile(folder / "image.tif").read("images");
  EXPECT_EQ(array.shape, (std::vector<Index>{1, 2, 3}));
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(array.values[size_t(i)], double(values(i / 3, i % 3)));
  TIFF* const file = TIFFOpen((folder / "image.tif").c_str(), "r");
  float resolution = 0;
  TIFFGetField(file, TIFFTAG_XRESOLUTION, &resolution);
  TIFFClose(file);
  EXPECT_FLOAT_EQ(resolution, 20000);
}

TEST(ImageStack, OfAnNpyFile) {
  const TemporaryFolder folder;
  const std::vector<float> values(12, 1.5f);
  folder.write("stack.npy", npy_bytes({2, 2, 3}, values.data()));
  EXPECT_EQ(VariableFile(folder / "stack.npy").read("images").values[7], 1.5);
}

TEST(ImageStack, OfAFolderMayNotUnpackToMoreThanTheLimit) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "images");
  for (const char* name : {"images/1.tif", "images/2.tif"}) write_pages(folder / name, 1);
  set_expansion_limit({11, 1000});
  const std::string error =
      folder.error_of([&] { VariableFile(folder / "images").read("images"); });
  set_expansion_limit({});
  EXPECT_NE(error.find("unpack to more than 11"), error.npos) << error;
  EXPECT_EQ(VariableFile(folder / "images").read("images").values.size(), 12u);
}

// 2 GB without a byte on disk; the directory at its end is garbage, or leads to itself.
TEST(ImageStack, ALargeFileWithABrokenDirectoryIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const std::string to_the_end("II*\0\xF0\xFF\xFF\x7F", 8);
  const auto refusal = [&](const std::string& directory) {
    folder.write("large.tif", to_the_end);
    std::filesystem::resize_file(folder / "large.tif", 0x7FFFFFF0);
    std::ofstream(folder / "large.tif", std::ios::binary | std::ios::app) << directory;
    return folder.error_of([&] { VariableFile(folder / "large.tif").read("images"); });
  };
  EXPECT_NE(refusal("").find("large.tif: "), std::string::npos);
  EXPECT_NE(refusal(std::string(64, '\xFF')).find("large.tif: "), std::string::npos);
  // No entries, and the next directory is this one.
  EXPECT_NE(refusal(std::string("\0\0\xF0\xFF\xFF\x7F", 6)).find("large.tif: "), std::string::npos);
}

// What is missing must not pass for the end: later images would get the wrong LEDs.
TEST(ImageStack, CutInTheMiddleIsNotAShorterStack) {
  const TemporaryFolder folder;
  write_pages(folder / "whole.tif", 9, 20, 30);
  const std::string bytes = read_bytes(folder / "whole.tif");
  for (const double share : {0.3, 0.6, 0.95}) {
    folder.write("cut.tif", bytes.substr(0, static_cast<size_t>(share * double(bytes.size()))));
    const std::string error = folder.error_of([&] { VariableFile(folder / "cut.tif"); });
    EXPECT_EQ(error.find("cut.tif: page "), 0u) << share << error;
  }
}

TEST(ImageStack, OfAFolderTakesNoHiddenFilesAndNoLinksToNowhere) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "images/sub.png");
  write_pages(folder / "images/1.tif", 2);
  folder.write("images/._1.tif", "of another system");
  EXPECT_EQ(VariableFile(folder / "images").variables()[0].shape[0], 2);
  std::filesystem::create_symlink("nowhere", folder / "images/2.png");
  EXPECT_EQ(folder.error_of([&] { VariableFile(folder / "images"); }),
            "images/2.png: no file found, or a link that leads nowhere; a picture expected");
}

TEST(ImageStack, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name) {
    return folder.error_of([&] { VariableFile(folder / name).read("images"); });
  };
  folder.write("bad.tif", "II*");
  EXPECT_EQ(refusal("bad.tif"), "bad.tif: damaged or no TIFF file found");
  write_pages(folder / "colour.tif", 1, 2, 3, 3);
  EXPECT_EQ(refusal("colour.tif"), "colour.tif: page 1: 3 channels found, 1 expected (gray)");
  write_pages(folder / "packed.tif", 1);
  std::string bytes = read_bytes(folder / "packed.tif");
  const std::string tag("\x03\x01\x03\x00\x01\x00\x00\x00\x08\x00", 10);  // Deflate
  ASSERT_NE(bytes.find(tag), std::string::npos);
  bytes.replace(bytes.find(tag) + 8, 2, "\xE8\xFD");
  folder.write("packed.tif", bytes);
  EXPECT_EQ(refusal("packed.tif"),
            "packed.tif: page 1: compression 65000 found, which this libtiff cannot undo; "
            "Deflate, LZW or none expected");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(refusal("empty"), "empty: no picture found, .tif, .tiff or .png files expected");
  std::filesystem::create_directory(folder / "mixed");
  write_pages(folder / "mixed/1.tif", 1);
  write_pages(folder / "mixed/2.tif", 1, 3, 3);
  EXPECT_EQ(refusal("mixed"),
            "mixed/2.tif: 3 x 3 pixels found, 2 x 3 expected, as in the first file of the folder");
}

}  // namespace image_stack_test
}  // namespace udv::io

// SPDX-License-Identifier: MIT
// Parts of arrays: every format gives the same numbers as the whole array, cut.
#include <gtest/gtest.h>
#include <matio.h>
#include <tiffio.h>

#include "io/hdf5_handle.hpp"
#include "io/temporary_files.hpp"
#include "npy_files.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/png.hpp"
#include "udv/io/tiff.hpp"
#include "udv/io/variables.hpp"

namespace udv::io {
namespace slices_test {

constexpr Index kShape[] = {4, 5, 6};
const std::string kShapeText = "(4, 5, 6)";

std::vector<float> numbers() {
  std::vector<float> values;
  for (int i = 0; i < 4 * 5 * 6; ++i) values.push_back(static_cast<float>(i));
  return values;
}

// All slices along all axes, against the whole array.
void check(const std::filesystem::path& path, const std::string& name = "images") {
  const VariableFile file(path);
  const ComplexArray whole = file.read(name);
  ASSERT_EQ(whole.shape, std::vector<Index>(kShape, kShape + 3)) << path;
  for (Index axis = 0; axis < 3; ++axis)
    for (Index begin = 0; begin <= kShape[axis]; ++begin)
      for (Index end = begin; end <= kShape[axis]; end += 2) {
        const ComplexArray part = file.read(name, {axis, begin, end});
        std::vector<std::complex<double>> expected;
        for (Index i = 0; i < whole.size(); ++i) {
          const Index at[] = {i / 30, i / 6 % 5, i % 6};
          if (at[axis] >= begin && at[axis] < end)
            expected.push_back(whole.values[static_cast<size_t>(i)]);
        }
        EXPECT_EQ(part.values, expected)
            << path << ", axis " << axis << ", " << begin << ", " << end;
        EXPECT_EQ(part.shape[static_cast<size_t>(axis)], end - begin);
        EXPECT_EQ(part.is_complex, whole.is_complex);
      }
}

TEST(Slices, OfNpyAndNpzFiles) {
  const TemporaryFolder folder;
  folder.write("c.npy", npy(header("<f4", kShapeText), little_endian(numbers())));
  folder.write("f.npy", npy(header("<f4", kShapeText, "True"), little_endian(numbers())));
  folder.write("b.npy", npy(header(">f4", kShapeText), big_endian(little_endian(numbers()), 4)));
  for (const char* name : {"c.npy", "f.npy", "b.npy"}) check(folder / name);
  Array array{{4, 5, 6}, {}};
  for (const float value : numbers()) array.values.push_back(value);
  write_npz(folder / "a.npz", {{"images", array}});
  check(folder / "a.npz");
}

TEST(Slices, OfMatFiles) {
  const TemporaryFolder folder;
  std::vector<float> values = numbers();
  const auto write = [&](const char* name, mat_ft version, matio_compression compression) {
    mat_t* const file = Mat_CreateVer((folder / name).c_str(), nullptr, version);
    std::size_t shape[] = {4, 5, 6};
    matvar_t* const variable =
        Mat_VarCreate("images", MAT_C_SINGLE, MAT_T_SINGLE, 3, shape, values.data(), 0);
    Mat_VarWrite(file, variable, compression);
    Mat_VarFree(variable);
    Mat_Close(file);
  };
  write("plain.mat", MAT_FT_MAT5, MAT_COMPRESSION_NONE);
  write("packed.mat", MAT_FT_MAT5, MAT_COMPRESSION_ZLIB);
  write("v73.mat", MAT_FT_MAT73, MAT_COMPRESSION_NONE);
  for (const char* name : {"plain.mat", "packed.mat", "v73.mat"}) check(folder / name);
}

TEST(Slices, OfHdf5Files) {
  const TemporaryFolder folder;
  {
    using detail::Hdf5Handle;
    const Hdf5Handle file(
        H5Fcreate((folder / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose);
    const hsize_t shape[] = {4, 5, 6};
    const Hdf5Handle space(H5Screate_simple(3, shape, nullptr), &H5Sclose);
    const Hdf5Handle dataset(H5Dcreate2(file.get(), "images", H5T_NATIVE_FLOAT, space.get(),
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             &H5Dclose);
    H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers().data());
  }
  check(folder / "a.h5");
}

// Page p of 16-bit numbers, in tiles of 16 x 16 or in strips.
void write_pages(const std::filesystem::path& path, int first, int pages, bool tiled) {
  TIFF* const file = TIFFOpen(path.c_str(), "w");
  for (int page = first; page < first + pages; ++page) {
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, 6);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, 5);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    std::vector<std::uint16_t> tile(16 * 16, 9999);
    for (int i = 0; i < 30; ++i)
      tile[static_cast<size_t>(i / 6 * 16 + i % 6)] = static_cast<std::uint16_t>(30 * page + i);
    if (tiled) {
      TIFFSetField(file, TIFFTAG_TILEWIDTH, 16);
      TIFFSetField(file, TIFFTAG_TILELENGTH, 16);
      TIFFWriteTile(file, tile.data(), 0, 0, 0, 0);
    } else {
      for (std::uint32_t r = 0; r < 5; ++r) TIFFWriteScanline(file, tile.data() + 16 * r, r, 0);
    }
    TIFFWriteDirectory(file);
  }
  TIFFClose(file);
}

TEST(Slices, OfTiffFilesAndFolders) {
  const TemporaryFolder folder;
  write_pages(folder / "strips.tif", 0, 4, false);
  write_pages(folder / "tiles.tif", 0, 4, true);
  check(folder / "strips.tif");
  check(folder / "tiles.tif");
  std::filesystem::create_directory(folder / "pictures");
  write_pages(folder / "pictures/1.tif", 0, 1, true);
  write_pages(folder / "pictures/2.tif", 1, 2, false);
  RowMatrix<std::uint16_t> picture(5, 6);
  for (Index i = 0; i < 30; ++i) picture.data()[i] = static_cast<std::uint16_t>(90 + i);
  write_png16(folder / "pictures/10.png", picture);
  check(folder / "pictures");
  EXPECT_EQ(VariableFile(folder / "pictures").read("images").values[119], 119.0);
}

// Several tiles a page, some of which reach beyond its edges.
TEST(Slices, OfATiffFileWithManyTiles) {
  const TemporaryFolder folder;
  constexpr std::uint32_t kRows = 40, kCols = 50, kTile = 16;
  TIFF* const file = TIFFOpen((folder / "large.tif").c_str(), "w");
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, kCols);
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, kRows);
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(file, TIFFTAG_TILEWIDTH, kTile);
  TIFFSetField(file, TIFFTAG_TILELENGTH, kTile);
  for (std::uint32_t top = 0; top < kRows; top += kTile)
    for (std::uint32_t left = 0; left < kCols; left += kTile) {
      std::vector<float> tile(kTile * kTile);
      for (std::uint32_t i = 0; i < tile.size(); ++i)
        tile[i] = static_cast<float>(100 * (top + i / kTile) + left + i % kTile);
      TIFFWriteTile(file, tile.data(), left, top, 0, 0);
    }
  TIFFClose(file);
  const ComplexArray array = VariableFile(folder / "large.tif").read("images");
  ASSERT_EQ(array.shape, (std::vector<Index>{1, kRows, kCols}));
  for (std::uint32_t i = 0; i < kRows * kCols; ++i)
    ASSERT_EQ(array.values[i], static_cast<double>(100 * (i / kCols) + i % kCols)) << i;

  // A damaged file whose directory announces tiles of 32768 x 32768: 4 GiB.
  std::string bytes = read_bytes(folder / "large.tif");
  for (const char tag : {0x42, 0x43}) {  // width and length: tag, type, count 1, value
    const size_t entry = bytes.find(std::string{tag, '\x01'});
    ASSERT_NE(entry, std::string::npos);
    bytes.replace(entry + 8, 2, std::string("\x00\x80", 2));
  }
  folder.write("damaged.tif", bytes);
  EXPECT_NE(folder.error_of([&] { VariableFile(folder / "damaged.tif").read("images"); })
                .find("which is taken for an attack or damage"),
            std::string::npos);
}

TEST(Slices, OutsideOfTheArrayAreRefused) {
  const TemporaryFolder folder;
  folder.write("c.npy", npy(header("<f4", kShapeText), little_endian(numbers())));
  const VariableFile file(folder / "c.npy");
  EXPECT_THROW(file.read("images", {3, 0, 1}), InvalidArgument);
  EXPECT_THROW(file.read("images", {0, 2, 5}), InvalidArgument);
  EXPECT_THROW(file.read("images", {0, 3, 2}), InvalidArgument);
}

}  // namespace slices_test
}  // namespace udv::io

// SPDX-License-Identifier: MIT
// TIFF and OME-TIFF stacks by libtiff.
#include "tiff.hpp"

#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/archive.hpp"
#include "core/require.hpp"
#include "image_folder.hpp"
#include "isolated.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/tiff.hpp"
#include "unpacked_size.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

constexpr Index kMostPages = 1'000'000;

// libtiff prints by itself unless told not to.
class QuietTiff {
 public:
  QuietTiff() : error_(TIFFSetErrorHandler(nullptr)), warning_(TIFFSetWarningHandler(nullptr)) {}
  ~QuietTiff() {
    TIFFSetErrorHandler(error_);
    TIFFSetWarningHandler(warning_);
  }
  QuietTiff(const QuietTiff&) = delete;
  QuietTiff& operator=(const QuietTiff&) = delete;

 private:
  TIFFErrorHandler error_, warning_;
};

struct Close {
  void operator()(TIFF* file) const { TIFFClose(file); }
};
using TiffFile = std::unique_ptr<TIFF, Close>;

TiffFile open(const std::filesystem::path& path) {
  read_start(path, 0);  // says clearly where there is no such file
  TiffFile file(TIFFOpen(path.c_str(), "r"));
  require<IoError>(file != nullptr, path.string(), ": damaged or no TIFF file found");
  return file;
}

// What the directory of the present page says.
struct Page {
  Index rows, cols;
  int bits, channels, format, compression;
  bool tiled;
};

Page describe_page(TIFF* file) {
  std::uint32_t rows = 0, cols = 0;
  std::uint16_t bits = 1, channels = 1, format = SAMPLEFORMAT_UINT, compression = COMPRESSION_NONE;
  TIFFGetField(file, TIFFTAG_IMAGELENGTH, &rows);
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &cols);
  TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLESPERPIXEL, &channels);
  TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression);
  return {rows, cols, bits, channels, format, compression, TIFFIsTiled(file) != 0};
}

void check_page(const std::string& where, const Page& page) {
  require<IoError>(page.rows > 0 && page.cols > 0, where, ": ", page.rows, " x ", page.cols,
                   " pixels found, 1 or more expected");
  require<IoError>(page.channels == 1, where, ": ", page.channels,
                   " channels found, 1 expected (gray)");
  const bool whole = page.format == SAMPLEFORMAT_UINT || page.format == SAMPLEFORMAT_INT;
  const bool known = (whole && (page.bits == 8 || page.bits == 16 || page.bits == 32)) ||
                     (page.format == SAMPLEFORMAT_IEEEFP && (page.bits == 32 || page.bits == 64));
  require<IoError>(known, where, ": ", page.bits, " bits of sample format ", page.format,
                   " found, whole numbers of 8, 16 or 32 bits or floats expected");
  // Not every libtiff has every codec: those in wheels lack Zstandard, LZMA, WebP and JBIG.
  const auto codec = static_cast<std::uint16_t>(page.compression);
  require<IoError>(TIFFIsCODECConfigured(codec) == 1, where, ": compression ", codec,
                   " found, which this libtiff cannot undo; Deflate, LZW or none expected");
}

template <typename Number>
void append(const unsigned char* line, Index count, std::vector<double>& values) {
  for (Index i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, line + static_cast<size_t>(i) * sizeof number, sizeof number);
    values.push_back(static_cast<double>(number));
  }
}

void append_line(const unsigned char* line, const Page& page, std::vector<double>& values) {
  const bool is_signed = page.format == SAMPLEFORMAT_INT;
  if (page.format == SAMPLEFORMAT_IEEEFP)
    page.bits == 32 ? append<float>(line, page.cols, values)
                    : append<double>(line, page.cols, values);
  else if (page.bits == 8)
    is_signed ? append<std::int8_t>(line, page.cols, values)
              : append<std::uint8_t>(line, page.cols, values);
  else if (page.bits == 16)
    is_signed ? append<std::int16_t>(line, page.cols, values)
              : append<std::uint16_t>(line, page.cols, values);
  else
    is_signed ? append<std::int32_t>(line, page.cols, values)
              : append<std::uint32_t>(line, page.cols, values);
}

void read_strips(TIFF* file, const std::string& where, const Page& page,
                 std::vector<double>& values) {
  const auto bytes = static_cast<size_t>(TIFFScanlineSize(file));
  require<IoError>(bytes >= static_cast<size_t>(page.cols * page.bits / 8), where, ": lines of ",
                   bytes, " bytes found, ", page.cols * page.bits / 8, " expected");
  std::vector<unsigned char> line(bytes);
  for (Index r = 0; r < page.rows; ++r) {
    const bool read = TIFFReadScanline(file, line.data(), static_cast<std::uint32_t>(r), 0) == 1;
    require<IoError>(read, where, ": row ", r, " is damaged or cut off");
    append_line(line.data(), page, values);
  }
}

// Tiles of one size, those at the right and lower edge filled up: one band of them after the other.
void read_tiles(TIFF* file, const std::string& where, const Page& page, std::uintmax_t file_size,
                std::vector<double>& values) {
  std::uint32_t width = 0, height = 0;
  TIFFGetField(file, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(file, TIFFTAG_TILELENGTH, &height);
  const auto number = static_cast<size_t>(page.bits) / 8;
  const auto line = static_cast<size_t>(width) * number;
  const auto bytes = static_cast<size_t>(std::max<tmsize_t>(TIFFTileSize(file), 0));
  // libtiff has checked the size of a tile against overflow; a page may be smaller than its tile.
  constexpr std::uint32_t kLargestTile = 1 << 16;
  require<IoError>(0 < width && width <= kLargestTile && 0 < height && height <= kLargestTile &&
                       bytes == line * height,
                   where, ": tiles of ", width, " x ", height, " pixels and ", bytes,
                   " bytes found, sizes that fit together expected");
  const Index across = (page.cols + width - 1) / width;
  require_expansion(where, file_size, static_cast<std::uintmax_t>(across) * bytes);
  std::vector<unsigned char> tile(bytes), band(static_cast<size_t>(across) * line * height);
  for (Index top = 0; top < page.rows; top += height) {
    for (Index x = 0; x < across; ++x) {
      const bool read = TIFFReadTile(file, tile.data(), static_cast<std::uint32_t>(x * width),
                                     static_cast<std::uint32_t>(top), 0, 0) >= 0;
      require<IoError>(read, where, ": the tile at row ", top, ", column ", x * width,
                       " is damaged or cut off");
      for (size_t r = 0; r < height; ++r)
        std::memcpy(band.data() + (r * static_cast<size_t>(across) + static_cast<size_t>(x)) * line,
                    tile.data() + r * line, line);
    }
    for (Index r = 0; r < std::min<Index>(height, page.rows - top); ++r)
      append_line(band.data() + static_cast<size_t>(r * across) * line, page, values);
  }
}

// The pages [begin, end) with their values; the others are described, as far as one goes.
struct WantedPages {
  Index begin = 0, end = 0;
  bool to_the_end = true;  // pages after them are described, too
};

TiffStack walk(const std::filesystem::path& path, const WantedPages& wanted) {
  const QuietTiff quiet;
  const TiffFile file = open(path);
  const std::uintmax_t size = std::filesystem::file_size(path);
  TiffStack stack;
  for (bool more = true; more;) {
    const std::string where = message(path.string(), ": page ", stack.pages + 1);
    const Page page = describe_page(file.get());
    check_page(where, page);
    if (stack.pages == 0) {
      stack.rows = page.rows;
      stack.cols = page.cols;
      stack.bits = page.bits;
      stack.is_float = page.format == SAMPLEFORMAT_IEEEFP;
    }
    require<IoError>(page.rows == stack.rows && page.cols == stack.cols, where, ": ", page.rows,
                     " x ", page.cols, " pixels found, ", stack.rows, " x ", stack.cols,
                     " expected, as in the first");
    const bool is_wanted = wanted.begin <= stack.pages && stack.pages < wanted.end;
    if (is_wanted && page.tiled) read_tiles(file.get(), where, page, size, stack.values);
    if (is_wanted && !page.tiled) read_strips(file.get(), where, page, stack.values);
    require<IoError>(++stack.pages <= kMostPages, path.string(), ": more than ", kMostPages,
                     " pages found, fewer expected");
    if (!wanted.to_the_end && stack.pages == wanted.end) return stack;
    // Asked before: a page that cannot be read looks like the end afterwards.
    more = TIFFLastDirectory(file.get()) == 0;
    require<IoError>(!more || TIFFReadDirectory(file.get()) == 1, path.string(), ": page ",
                     stack.pages + 1,
                     ": a damaged directory found, a page or the end of the file expected");
  }
  return stack;
}

std::vector<Variable> list(const std::filesystem::path& path) {
  const TiffStack stack = walk(path, {});
  const std::string type = (stack.is_float ? "float" : "uint") + std::to_string(stack.bits);
  return {{kStackVariable, {stack.pages, stack.rows, stack.cols}, type, true}};
}

ComplexArray read_pages(const std::filesystem::path& path, const Variable& variable,
                        const WantedPages& wanted) {
  plausible_count(path, variable, 1);
  const TiffStack stack = walk(path, wanted);
  const Index pages = wanted.to_the_end ? variable.shape[0] : wanted.end;
  require<IoError>(std::vector<Index>({stack.pages, stack.rows, stack.cols}) ==
                       std::vector<Index>({pages, variable.shape[1], variable.shape[2]}),
                   path.string(), ": the file has changed since it was listed");
  return {{wanted.end - wanted.begin, stack.rows, stack.cols},
          {stack.values.begin(), stack.values.end()},
          false};
}

ComplexArray read(const std::filesystem::path& path, const Variable& variable) {
  return read_pages(path, variable, {0, variable.shape[0]});
}

ComplexArray read_slices(const std::filesystem::path& path, const Variable& variable,
                         const Slices& slices) {
  return read_pages(path, variable, {slices.begin, slices.end, false});
}

}  // namespace

TiffStack describe_tiff(const std::filesystem::path& path) {
  return walk(path, {});
}

TiffStack read_tiff(const std::filesystem::path& path, Index begin, Index end) {
  return walk(path, {begin, end, false});
}

const VariableFormat kTiffFormat{list, read, true, read_slices, true};

}  // namespace udv::io::detail

namespace udv::io {

void write_tiff(const std::filesystem::path& path, const RowMatrix<float>& values, double pixel_m) {
  const detail::QuietTiff quiet;
  const detail::TiffFile file(TIFFOpen(path.c_str(), "w"));
  require<IoError>(file != nullptr, path.string(), ": cannot be written");
  TIFFSetField(file.get(), TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(values.cols()));
  TIFFSetField(file.get(), TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(values.rows()));
  TIFFSetField(file.get(), TIFFTAG_BITSPERSAMPLE, 32);
  TIFFSetField(file.get(), TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
  TIFFSetField(file.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(file.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (pixel_m > 0) {
    constexpr double kCentimetre = 0.01;
    TIFFSetField(file.get(), TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField(file.get(), TIFFTAG_XRESOLUTION, kCentimetre / pixel_m);
    TIFFSetField(file.get(), TIFFTAG_YRESOLUTION, kCentimetre / pixel_m);
  }
  RowMatrix<float> copy = values;  // libtiff takes lines that it might change
  for (Index r = 0; r < copy.rows(); ++r)
    require<IoError>(
        TIFFWriteScanline(file.get(), copy.row(r).data(), static_cast<std::uint32_t>(r), 0) == 1,
        path.string(), ": row ", r, " cannot be written");
  require<IoError>(TIFFFlush(file.get()) == 1, path.string(), ": cannot be written");
}

TiffInfo detail::tiff_info(const std::filesystem::path& path) {
  const QuietTiff quiet;
  const TiffFile file = open(path);
  TiffInfo notes;
  const char* text = nullptr;
  if (TIFFGetField(file.get(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr)
    notes.description = text;
  float resolution = 0;
  std::uint16_t unit = RESUNIT_INCH;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_RESOLUTIONUNIT, &unit);
  const bool given = TIFFGetField(file.get(), TIFFTAG_XRESOLUTION, &resolution) == 1;
  if (given && resolution > 0 && unit != RESUNIT_NONE)
    notes.pixel_m = (unit == RESUNIT_CENTIMETER ? 0.01 : 0.0254) / static_cast<double>(resolution);
  return notes;
}

template <typename Archive>
void fields(Archive& archive, TiffInfo& info) {
  archive(info.description, info.pixel_m);
}

TiffInfo read_tiff_info(const std::filesystem::path& path) {
  const std::string bytes = detail::text_isolated(path, [&] {
    TiffInfo info = detail::tiff_info(path);
    ArchiveWriter archive;
    archive(info);
    return archive.take();
  });
  TiffInfo info;
  ArchiveReader archive(bytes);
  archive(info);
  return info;
}

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#include "udv/io/png.hpp"

#include <png.h>

#include "text.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace {

/// libpng's description of an image; reports through its message and never jumps or prints.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }
  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

constexpr Index kLargestSize = 1'000'000;  // libpng's own limit

std::string encode(const std::string& name, Index height, Index width, png_uint_32 format,
                   const std::uint8_t* pixels) {
  require(0 < height && height <= kLargestSize && 0 < width && width <= kLargestSize,
          "write_png: image of ", height, " x ", width, " pixels found, 1 to ", kLargestSize,
          " each way expected");
  PngImage image;
  image->height = static_cast<png_uint_32>(height);
  image->width = static_cast<png_uint_32>(width);
  image->format = format;
  const auto raw = static_cast<std::size_t>(height) *
                   (static_cast<std::size_t>(width) * PNG_IMAGE_PIXEL_CHANNELS(format) + 1);
  // Where deflate cannot shorten the rows it stores them, with a few bytes per block and chunk.
  png_alloc_size_t size = raw + raw / 512 + 4096;
  std::string bytes(size, '\0');
  const bool written =
      png_image_write_to_memory(image.get(), bytes.data(), &size, 0, pixels, 0, nullptr) != 0;
  require<IoError>(written, name, ": the image cannot be packed: ", image->message);
  bytes.resize(size);
  return bytes;
}

/// libpng is content with the last row; a file that was cut off after it lacks the end mark.
void require_whole_png(const std::string& name, std::string_view bytes) {
  constexpr std::string_view kMagic = "\x89PNG\r\n\x1a\n";
  constexpr std::string_view kEndMark = "IEND\xae\x42\x60\x82";
  require<IoError>(bytes.starts_with(kMagic), name, ": ", detail::in_quotes(bytes.substr(0, 8)),
                   " found as first bytes, \\x89PNG of a PNG file expected");
  require<IoError>(bytes.find(kEndMark) != bytes.npos, name,
                   ": PNG file without its end mark found (cut off or damaged), IEND expected");
}

/// A row takes at least width / 8 bytes, and deflate packs at most 1032 : 1.
void require_plausible_size(const std::string& name, png_image* image, std::size_t num_bytes) {
  constexpr double kLargestRatio = 8.0 * 1032.0;
  const double pixels = static_cast<double>(image->height) * image->width;
  require<IoError>(pixels <= kLargestRatio * static_cast<double>(num_bytes), name, ": ",
                   image->height, " x ", image->width, " pixels announced in a file of ", num_bytes,
                   " bytes, a smaller image expected");
}

}  // namespace

void write_png(const std::filesystem::path& path, const RowMatrix<std::uint8_t>& gray) {
  write_atomically(path,
                   encode(path.string(), gray.rows(), gray.cols(), PNG_FORMAT_GRAY, gray.data()));
}

void write_png(const std::filesystem::path& path, const RgbImage& image) {
  const auto found = static_cast<Index>(image.pixels.size());
  const bool matches = image.height > 0 && image.width > 0 && found % 3 == 0 &&
                       found / 3 / image.height == image.width && found / 3 % image.height == 0;
  require(matches, "write_png: ", found, " values found, 3 for each of ", image.height, " x ",
          image.width, " pixels expected");
  write_atomically(
      path, encode(path.string(), image.height, image.width, PNG_FORMAT_RGB, image.pixels.data()));
}

RowMatrix<std::uint8_t> read_png_gray(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::string bytes = read_bytes(path);
  require_whole_png(name, bytes);
  PngImage image;
  const bool begun = png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()) != 0;
  require<IoError>(begun, name, ": damaged PNG file found: ", image->message);
  require_plausible_size(name, image.get(), bytes.size());
  image->format = PNG_FORMAT_GRAY;
  RowMatrix<std::uint8_t> gray(image->height, image->width);
  const png_color black{0, 0, 0};
  const bool read = png_image_finish_read(image.get(), &black, gray.data(), 0, nullptr) != 0;
  require<IoError>(read, name, ": damaged PNG file found: ", image->message);
  return gray;
}

}  // namespace udv::io

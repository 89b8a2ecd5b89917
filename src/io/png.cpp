// SPDX-License-Identifier: MIT
#include "udv/io/png.hpp"

#include <png.h>

#include <algorithm>

#include "core/require.hpp"
#include "text.hpp"
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
                   const void* pixels) {
  require(0 < height && height <= kLargestSize && 0 < width && width <= kLargestSize,
          "write_png: image of ", height, " x ", width, " pixels found, 1 to ", kLargestSize,
          " each way expected");
  PngImage image;
  image->height = static_cast<png_uint_32>(height);
  image->width = static_cast<png_uint_32>(width);
  image->format = format;
  const auto raw = static_cast<std::size_t>(height) *
                   (static_cast<std::size_t>(width) * PNG_IMAGE_PIXEL_SIZE(format) + 1);
  // Where deflate cannot shorten the rows it stores them, with a few bytes per block and chunk.
  png_alloc_size_t size = raw + raw / 512 + 4096;
  std::string bytes(size, '\0');
  const bool written =
      png_image_write_to_memory(image.get(), bytes.data(), &size, 0, pixels, 0, nullptr) != 0;
  require<IoError>(written, name, ": the image cannot be packed: ", image->message);
  bytes.resize(size);
  return bytes;
}

void require_magic(const std::string& name, std::string_view bytes) {
  constexpr std::string_view kMagic = "\x89PNG\r\n\x1a\n";
  require<IoError>(bytes.starts_with(kMagic), name, ": ", detail::in_quotes(bytes.substr(0, 8)),
                   " found as first bytes, \\x89PNG of a PNG file expected");
}

Index big_endian(std::string_view bytes) {
  Index value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// libpng is content with the last row; a file that was cut off after it lacks the end mark.
void require_whole_png(const std::string& name, std::string_view bytes) {
  constexpr std::string_view kEndMark = "IEND\xae\x42\x60\x82";
  require_magic(name, bytes);
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

void write_png16(const std::filesystem::path& path, const RowMatrix<std::uint16_t>& gray) {
  write_atomically(
      path, encode(path.string(), gray.rows(), gray.cols(), PNG_FORMAT_LINEAR_Y, gray.data()));
}

PngInfo describe_png(const std::filesystem::path& path) {
  constexpr const char* kColours[] = {"gray",  nullptr,         "RGB", "palette", "gray with alpha",
                                      nullptr, "RGB with alpha"};
  constexpr std::size_t kMagicBytes = 8, kChunkHead = 8, kSizes = kMagicBytes + kChunkHead;
  const std::string name = path.string(), start = read_start(path, kSizes + 10);
  require_magic(name, start);
  require<IoError>(start.size() == kSizes + 10 && start.compare(12, 4, "IHDR") == 0, name, ": ",
                   detail::in_quotes(start.substr(8)),
                   " found at byte 8, IHDR and a size expected");
  const std::string_view bytes = start;
  const auto bits = static_cast<unsigned char>(start[24]),
             colour = static_cast<unsigned char>(start[25]);
  const PngInfo info{big_endian(bytes.substr(20, 4)), big_endian(bytes.substr(16, 4)), bits,
                     colour < std::size(kColours) && kColours[colour] ? kColours[colour] : ""};
  require<IoError>(info.height > 0 && info.width > 0 && !info.colour.empty(), name, ": ",
                   info.height, " x ", info.width, " pixels of colour type ",
                   static_cast<int>(colour), " found, a picture of type 0, 2, 3, 4 or 6 expected");
  return info;
}

namespace {

// libpng would change numbers by the gamma and the colour space that a file names. Cameras and
// programs name some and store what they have measured.
std::string without_colour_spaces(std::string_view bytes) {
  constexpr std::string_view kTold[] = {"gAMA", "sRGB", "iCCP", "cHRM"};
  constexpr std::size_t kMagicBytes = 8, kAroundChunk = 12;  // length, name, checksum
  std::string kept(bytes.substr(0, kMagicBytes));
  bytes.remove_prefix(kept.size());
  while (bytes.size() >= kAroundChunk) {
    const auto length = static_cast<std::size_t>(big_endian(bytes.substr(0, 4)));
    const std::string_view chunk = bytes.substr(0, length + kAroundChunk);
    if (std::ranges::find(kTold, chunk.substr(4, 4)) == std::end(kTold)) kept += chunk;
    bytes.remove_prefix(chunk.size());
  }
  return kept.append(bytes);
}

// Opens the file, asks `room` for memory of height x width pixels and fills it.
template <typename Room>
void read_pixels(const std::filesystem::path& path, png_uint_32 format, const Room& room) {
  const std::string name = path.string();
  std::string bytes = read_bytes(path);
  require_whole_png(name, bytes);
  bytes = without_colour_spaces(bytes);
  PngImage image;
  const bool begun = png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()) != 0;
  require<IoError>(begun, name, ": damaged PNG file found: ", image->message);
  require_plausible_size(name, image.get(), bytes.size());
  image->format = format;
  const png_color black{0, 0, 0};
  void* const pixels = room(image->height, image->width);
  const bool read = png_image_finish_read(image.get(), &black, pixels, 0, nullptr) != 0;
  require<IoError>(read, name, ": damaged PNG file found: ", image->message);
}

}  // namespace

RowMatrix<std::uint8_t> read_png_gray(const std::filesystem::path& path) {
  RowMatrix<std::uint8_t> gray;
  read_pixels(path, PNG_FORMAT_GRAY, [&](Index height, Index width) {
    gray.resize(height, width);
    return gray.data();
  });
  return gray;
}

RgbImage read_png_rgb(const std::filesystem::path& path) {
  RgbImage image;
  read_pixels(path, PNG_FORMAT_RGB, [&](Index height, Index width) {
    image = {height, width, std::vector<std::uint8_t>(static_cast<size_t>(3 * height * width))};
    return image.pixels.data();
  });
  return image;
}

namespace {

// Height x width pixels of one or three numbers of this kind.
template <typename Number>
RowMatrix<Number> read_numbers(const std::filesystem::path& path, png_uint_32 format) {
  RowMatrix<Number> numbers;
  read_pixels(path, format, [&](Index height, Index width) {
    numbers.resize(height, width * PNG_IMAGE_SAMPLE_CHANNELS(format));
    return numbers.data();
  });
  return numbers;
}

// One of three numbers that are equal.
template <typename Number>
RowMatrix<Number> one_channel(const std::string& name, const RowMatrix<Number>& colours) {
  const auto channel = [&](Index k) { return colours(Eigen::all, Eigen::seq(k, Eigen::last, 3)); };
  require<IoError>(channel(0) == channel(1) && channel(0) == channel(2), name,
                   ": a picture in colours found, a gray one expected (the channel of the light "
                   "by itself)");
  return channel(0);
}

}  // namespace

RowMatrix<std::uint16_t> read_png_levels(const std::filesystem::path& path) {
  const PngInfo info = describe_png(path);
  const bool gray = info.colour.starts_with("gray");
  const std::string name = path.string();
  if (info.bits == 16)
    return gray ? read_numbers<std::uint16_t>(path, PNG_FORMAT_LINEAR_Y)
                : one_channel(name, read_numbers<std::uint16_t>(
                                        path, PNG_FORMAT_FLAG_LINEAR | PNG_FORMAT_FLAG_COLOR));
  const auto levels = gray ? read_numbers<std::uint8_t>(path, PNG_FORMAT_GRAY)
                           : one_channel(name, read_numbers<std::uint8_t>(path, PNG_FORMAT_RGB));
  return levels.cast<std::uint16_t>();
}

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// A colour image, row by row from the top, red, green and blue of each pixel side by side.
struct RgbImage {
  Index height = 0;
  Index width = 0;
  std::vector<std::uint8_t> pixels;  ///< 3 * height * width of them
};

/// An 8-bit PNG file, written atomically; in gray, 0 is black and 255 is white. Throws
/// InvalidArgument where there is no pixel or their number does not match the size, IoError where
/// the file cannot be written.
UDV_EXPORT void write_png(const std::filesystem::path& path, const RowMatrix<std::uint8_t>& gray);
UDV_EXPORT void write_png(const std::filesystem::path& path, const RgbImage& image);
/// The same with 16 bits, 65535 is white.
UDV_EXPORT void write_png16(const std::filesystem::path& path,
                            const RowMatrix<std::uint16_t>& gray);

/// What the first bytes of a PNG file say.
struct PngInfo {
  Index height = 0, width = 0;
  int bits = 0;        ///< of one number
  std::string colour;  ///< gray, RGB, palette, gray with alpha, RGB with alpha
};

/// Reads no more than these bytes. Throws IoError naming the path where they are none of a PNG
/// file.
UDV_EXPORT PngInfo describe_png(const std::filesystem::path& path);

/// Any PNG file as 8-bit gray: colours by their luminance, transparent pixels on black. Numbers are
/// taken as they are stored, whatever the file says of gamma and colour spaces. Throws IoError
/// naming the path where it is missing, no PNG file, damaged or cut off; the announced size is
/// compared with that of the file before any allocation.
UDV_EXPORT RowMatrix<std::uint8_t> read_png_gray(const std::filesystem::path& path);
/// The same in colours.
UDV_EXPORT RgbImage read_png_rgb(const std::filesystem::path& path);
/// A measurement: the numbers of a gray picture as they are stored, 0 to 65535 where it has 16
/// bits, else 0 to 255. A picture whose red, green and blue are equal is gray; other colours throw
/// IoError.
UDV_EXPORT RowMatrix<std::uint16_t> read_png_levels(const std::filesystem::path& path);

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/io/png.hpp"

namespace udv::deep {

/// A JPEG file as red, green and blue. Throws IoError naming the path: damaged, or a program that
/// was built without libjpeg.
io::RgbImage read_jpeg(const std::filesystem::path& path);

/// The shorter side to `size` (bilinear, over all pixels that a new one covers), then the middle of
/// the longer one.
io::RgbImage resize_and_crop(const io::RgbImage& image, Index size);

}  // namespace udv::deep

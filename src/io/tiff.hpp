// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "udv/core/types.hpp"
#include "udv/io/tiff.hpp"

namespace udv::io::detail {

/// The pages of a TIFF file.
struct TiffStack {
  Index pages = 0, rows = 0, cols = 0;
  int bits = 0;  ///< of one number
  bool is_float = false;
  std::vector<double> values;  ///< page by page, row by row; empty where only described
};

/// Numbers of one channel, 8, 16 or 32 bits, whole or (32, 64 bits) floating; all pages of one
/// size. Throws IoError naming path and page.
TiffStack describe_tiff(const std::filesystem::path& path);
/// Pages [begin, end) alone; later ones are not looked at.
TiffStack read_tiff(const std::filesystem::path& path, Index begin, Index end);

/// io::read_tiff_info in this process, where libtiff may crash.
TiffInfo tiff_info(const std::filesystem::path& path);

}  // namespace udv::io::detail

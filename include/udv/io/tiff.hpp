// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// A TIFF file of one page of 32-bit floats with the size of a pixel as its resolution (none where
/// 0). Throws IoError naming the path where it cannot be written.
UDV_EXPORT void write_tiff(const std::filesystem::path& path, const RowMatrix<float>& values,
                           double pixel_m = 0);

/// What the first page of a TIFF file says of itself.
struct TiffInfo {
  std::string description;  ///< OME-XML, or any text
  double pixel_m = 0;       ///< from the resolution; 0: none, or none with a unit
};
/// From a child process, as libtiff crashes on some damaged files. Throws IoError naming the path
/// where it is no TIFF file.
UDV_EXPORT TiffInfo read_tiff_info(const std::filesystem::path& path);

}  // namespace udv::io

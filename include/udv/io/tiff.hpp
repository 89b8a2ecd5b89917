// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// A TIFF file of one page of 32-bit floats with the size of a pixel as its resolution (none where
/// 0). Throws IoError naming the path where it cannot be written.
UDV_EXPORT void write_tiff(const std::filesystem::path& path, const RowMatrix<float>& values,
                           double pixel_m = 0);

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// Grey levels of numbers, for write_png: the lowest and highest 0.2 % are black and white, the
/// rest in between. Numbers that are not finite are black.
UDV_EXPORT RowMatrix<std::uint8_t> gray_picture(const RowMatrix<double>& values);

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Phase of every pixel, in radians, without jumps where there need be none: pixels are joined in
/// order of their modulus, largest first, each to a neighbour that is done, with the multiple of
/// 2 pi that brings them nearest. O(n log n) for n pixels.
UDV_EXPORT RowMatrix<double> unwrapped_phase(const RowMatrix<std::complex<float>>& image);

/// The unwrapped phase against the phase of the sum of all pixels: a global phase of the image
/// changes nothing.
UDV_EXPORT RowMatrix<double> relative_phase(const RowMatrix<std::complex<float>>& image);

}  // namespace udv

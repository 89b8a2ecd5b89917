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

/// Points about which the phase turns once: 2 x 2 pixels whose phase differences, each between -pi
/// and pi, add up to a turn, where none of the four is darker than `darkest` times the root mean
/// square of the image (near zeros of an image noise decides). A wrong local minimum has many.
UDV_EXPORT Index count_vortices(const RowMatrix<std::complex<float>>& image, double darkest = 0.2);

/// How much phase c |r|^2 / R^2 an image has besides a constant and a tilt, c in radians, with R
/// from the middle to a corner: least squares on the unwrapped phase, weighted by the modulus.
UDV_EXPORT double phase_bowl(const RowMatrix<std::complex<float>>& image);

}  // namespace udv

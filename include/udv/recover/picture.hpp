// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstdint>

#include "udv/core/types.hpp"

namespace udv {

/// Grey levels of numbers: the lowest and highest 0.2 % are black and white, the rest in between.
/// Numbers that are not finite are black.
RowMatrix<std::uint8_t> gray_picture(const RowMatrix<double>& values);

/// |image| as grey levels.
RowMatrix<std::uint8_t> amplitude_picture(const RowMatrix<std::complex<float>>& image);

/// The phase of an image as grey levels, against the phase of its sum: a whole turn of the global
/// phase moves nothing. Unwrapped along the path of best quality.
RowMatrix<std::uint8_t> phase_picture(const RowMatrix<std::complex<float>>& image);

/// Phase of every pixel without jumps where there need be none: pixels are joined in order of their
/// modulus, each to a neighbour that is done, with the multiple of 2 pi that brings them nearest.
RowMatrix<double> unwrapped_phase(const RowMatrix<std::complex<float>>& image);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "udv/recover/optics.hpp"

namespace udv {

/// A neighbour of a sample and its share of what is interpolated.
struct Corner {
  Index down, right;
  double weight;
};

/// f(k - shift) = sum of weight f(k + corner), bilinear; down and right are -1, 0 or 1.
std::array<Corner, 4> corners_of(const SampleShift& shift);

/// The pupil of image l: support_l o |P| with the phase of P(k - shift_l). Where the neighbours
/// cancel, the phase is that of P(k).
RowMatrix<std::complex<double>> pupil_of_image(const RowMatrix<std::complex<double>>& pupil,
                                               const ImagePupils& own, Index l);

/// One for each image, or one for all where none has its own.
std::vector<RowMatrix<std::complex<double>>> pupils_of_images(
    const RowMatrix<std::complex<double>>& pupil, const ImagePupils& own);

}  // namespace udv

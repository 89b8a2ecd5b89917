// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Amplitudes of images of one size, one after the other, each row by row.
struct AmplitudeStack {
  const float* values;
  Index images, rows, cols;
};

/// Pixels that are hot or dead in all images, row by row from 0: far from the median of their
/// neighbours to the same side in nearly all images, or with the same excess in all dark ones. None
/// where there are fewer than 8 images.
std::vector<Index> find_bad_pixels(const AmplitudeStack& stack);

/// Gives these pixels of an image the median of their neighbours that are not among them.
void fill_from_neighbours(float* image, Index rows, Index cols, const std::vector<Index>& pixels);

}  // namespace udv

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

/// Pixels that are hot or dead in all images, row by row from 0. In nearly all images they are far
/// from the median of their neighbours to the same side, and no more than one neighbour is farther
/// off; or they have the same excess in all dark images, or lack the light of all bright ones. None
/// where there are fewer than 8 images.
std::vector<Index> find_bad_pixels(const AmplitudeStack& stack);

/// Gives these pixels of an image, float or double, the median of their neighbours that are not
/// among them; those in the middle of larger areas after those at the edge.
template <typename Value>
void fill_from_neighbours(Value* image, Index rows, Index cols, std::vector<Index> pixels);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/clones.hpp"
#include "recover/kernels/transpose.hpp"

namespace udv {

/// An array of rows x cols pixels, each with some numbers side by side, and the same as planes: one
/// for each number of a pixel, in which the array lies transposed.
struct PixelPlanes {
  Index rows, cols;
  Index numbers;  ///< of a pixel
  Index stride;   ///< from a pixel to the next one
  Index plane;    ///< from a plane to the next one

  Index row_stride() const { return cols * stride; }
};

/// Columns begin to end - 1. Squares where the numbers of a row have no gaps: square(r, at, places)
/// for numbers `at` and following of rows r and following, which lie at places[i] + r and following
/// in the planes. single(at, place) for the others.
template <typename Real, typename SquareBody, typename SingleBody>
UDV_INLINE void over_pixels(const PixelPlanes& layout, Index begin, Index end,
                            const SquareBody& square, const SingleBody& single) {
  constexpr Index kWidth = kLanes<Real>;
  const Index count = end * layout.numbers;
  const bool gaps = layout.stride != layout.numbers;
  std::array<Index, static_cast<size_t>(kWidth)> places, offsets;
  Index col = begin, number = 0;
  for (Index f = begin * layout.numbers; f < count; f += kWidth) {
    const auto width = static_cast<size_t>(std::min(kWidth, count - f));
    for (size_t i = 0; i < width; ++i) {
      places[i] = number * layout.plane + col * layout.rows;
      offsets[i] = col * layout.stride + number;
      if (++number == layout.numbers) number = 0, ++col;
    }
    Index r = 0;
    if (!gaps && width == places.size())
      for (; r + kWidth <= layout.rows; r += kWidth) square(r, r * layout.row_stride() + f, places);
    for (; r < layout.rows; ++r)
      for (size_t i = 0; i < width; ++i)
        single(r * layout.row_stride() + offsets[i], places[i] + r);
  }
}

/// Some columns, from pixels to planes.
template <typename Real>
UDV_CLONED void to_planes(const PixelPlanes& layout, Index begin, Index end, const Real* pixels,
                          Real* planes) {
  over_pixels<Real>(
      layout, begin, end,
      [&](Index r, Index at, const auto& places) UDV_INLINE_BODY {
        Square<Real> square;
        for (size_t i = 0; i < square.size(); ++i)
          square[i] = load_lanes(pixels + at + static_cast<Index>(i) * layout.row_stride());
        transpose<Real>(square);
        for (size_t i = 0; i < square.size(); ++i)
          store_lanes<Real>(square[i], planes + places[i] + r);
      },
      [&](Index at, Index place) UDV_INLINE_BODY { planes[place] = pixels[at]; });
}

/// Some columns of the sum of several planes, in order, as pixels. The planes are zero afterwards.
template <typename Real>
UDV_CLONED void sum_of_planes(const PixelPlanes& layout, Index begin, Index end,
                              const std::vector<Real*>& planes, Real* pixels) {
  over_pixels<Real>(
      layout, begin, end,
      [&](Index r, Index at, const auto& places) UDV_INLINE_BODY {
        Square<Real> square{};
        for (Real* const one : planes)
          for (size_t i = 0; i < square.size(); ++i) {
            square[i] += load_lanes(one + places[i] + r);
            store_lanes<Real>(Lanes<Real>{}, one + places[i] + r);
          }
        transpose<Real>(square);
        for (size_t i = 0; i < square.size(); ++i)
          store_lanes<Real>(square[i], pixels + at + static_cast<Index>(i) * layout.row_stride());
      },
      [&](Index at, Index place) UDV_INLINE_BODY {
        Real sum = 0;
        for (Real* const one : planes) sum += std::exchange(one[place], Real(0));
        pixels[at] = sum;
      });
}

}  // namespace udv

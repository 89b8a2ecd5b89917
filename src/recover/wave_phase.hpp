// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

#include "udv/core/types.hpp"

namespace udv::detail {

/// image(r) *= exp(i c / 2 |r|^2), r in pixels from the middle; row by row.
inline void bend_wave(std::complex<float>* image, Index rows, Index cols, double c) {
  const double middle_row = 0.5 * static_cast<double>(rows - 1);
  const double middle_col = 0.5 * static_cast<double>(cols - 1);
  for (Index i = 0; i < rows * cols; ++i) {
    const double y = static_cast<double>(i / cols) - middle_row;
    const double x = static_cast<double>(i % cols) - middle_col;
    image[i] *= std::complex<float>(std::polar(1.0, 0.5 * c * (x * x + y * y)));
  }
}

}  // namespace udv::detail

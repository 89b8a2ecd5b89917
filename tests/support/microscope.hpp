// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/ptychography_data.hpp"

/// A made-up microscope whose sample is known.
namespace udv::testing {

inline constexpr Index kLow = 24, kHigh = 48;

inline RowMatrix<std::complex<double>> disc(double radius, double bend = 0) {
  RowMatrix<std::complex<double>> pupil = RowMatrix<std::complex<double>>::Zero(kLow, kLow);
  for (Index r = 0; r < kLow; ++r)
    for (Index c = 0; c < kLow; ++c) {
      const double square = std::pow(double(r - kLow / 2), 2) + std::pow(double(c - kLow / 2), 2);
      if (square <= radius * radius)
        pupil(r, c) = std::polar(1.0, bend * square / (radius * radius));
    }
  return pupil;
}

/// LEDs on a grid of 7 x 7, 4 samples apart, or on a smaller one.
inline std::vector<Window> grid(Index reach = 3) {
  std::vector<Window> windows;
  for (Index y = -reach; y <= reach; ++y)
    for (Index x = -reach; x <= reach; ++x)
      windows.push_back({(kHigh - kLow) / 2 + 4 * y, (kHigh - kLow) / 2 + 4 * x});
  return windows;
}

inline std::vector<bool> dark_of(const std::vector<Window>& windows, double radius) {
  std::vector<bool> dark;
  for (const Window& w : windows)
    dark.push_back(std::hypot(double(w.row - (kHigh - kLow) / 2),
                              double(w.col - (kHigh - kLow) / 2)) > radius);
  return dark;
}

inline Vector<std::complex<float>> sample(const PtychographyOperator<std::complex<float>>& op) {
  Vector<std::complex<float>> image(kHigh * kHigh);
  for (Index r = 0; r < kHigh; ++r)
    for (Index c = 0; c < kHigh; ++c) {
      const double cell = std::exp(-(std::pow(r - 20.0, 2) + std::pow(c - 30.0, 2)) / 60.0);
      const double edge = r > 28 && r < 40 && c > 8 && c < 20 ? 0.4 : 0.0;
      image(r * kHigh + c) = std::polar(float(1 - 0.5 * cell - edge), float(0.8 * cell));
    }
  return op.from_image(image);
}

inline Vector<float> amplitudes_of(const PtychographyOperator<std::complex<float>>& op,
                                   const Vector<std::complex<float>>& x) {
  RowMatrix<std::complex<float>> fields;
  op.project(RowMatrix<std::complex<float>>(x), fields);
  return fields.col(0).cwiseAbs();
}

struct Scene {
  explicit Scene(Index reach = 3) : windows(grid(reach)) {}

  std::vector<Window> windows;
  PtychographyOperator<std::complex<float>> op{kHigh, kHigh, windows, disc(9)};
  std::vector<bool> dark = dark_of(windows, 9);
  Vector<std::complex<float>> truth = sample(op);
  Vector<float> amplitudes = amplitudes_of(op, truth);

  /// All of them, as recover_image() takes them.
  PtychographyImages images() const {
    return {std::make_shared<PtychographyOperator<std::complex<float>>>(kHigh, kHigh, windows,
                                                                        op.pupil()),
            nullptr,
            amplitudes,
            dark,
            {}};
  }
};

}  // namespace udv::testing

// SPDX-License-Identifier: MIT
#include "udv/io/gray_picture.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace udv::io {
namespace {

constexpr double kCut = 0.002;  // share of the values beyond black, and beyond white

}  // namespace

RowMatrix<std::uint8_t> gray_picture(const RowMatrix<double>& values) {
  RowMatrix<std::uint8_t> gray = RowMatrix<std::uint8_t>::Zero(values.rows(), values.cols());
  std::vector<double> sorted;
  for (Index i = 0; i < values.size(); ++i)
    if (std::isfinite(values.data()[i])) sorted.push_back(values.data()[i]);
  if (sorted.empty()) return gray;
  std::sort(sorted.begin(), sorted.end());
  const auto cut = static_cast<size_t>(kCut * static_cast<double>(sorted.size()));
  const double black = sorted[cut], white = sorted[sorted.size() - 1 - cut];
  const double range = white > black ? white - black : 1;
  for (Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values.data()[i])) continue;
    const double level = std::clamp((values.data()[i] - black) / range, 0.0, 1.0);
    gray.data()[i] = static_cast<std::uint8_t>(std::lround(255 * level));
  }
  return gray;
}

}  // namespace udv::io

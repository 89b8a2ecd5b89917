// SPDX-License-Identifier: MIT
#include "udv/recover/picture.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <vector>

namespace udv {
namespace {

constexpr double kCut = 0.002;  // share of the values beyond black, and beyond white

struct Pixel {
  float quality;
  Index at, from;
  // The best pixel first; of equals the one with the smaller number.
  bool operator<(const Pixel& other) const {
    return quality != other.quality ? quality < other.quality : at > other.at;
  }
};

double nearest_turn(double angle, double to) {
  return angle + 2 * M_PI * std::round((to - angle) / (2 * M_PI));
}

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

RowMatrix<std::uint8_t> amplitude_picture(const RowMatrix<std::complex<float>>& image) {
  return gray_picture(image.cwiseAbs().cast<double>());
}

RowMatrix<double> unwrapped_phase(const RowMatrix<std::complex<float>>& image) {
  const Index rows = image.rows(), cols = image.cols();
  RowMatrix<double> phase(rows, cols);
  if (image.size() == 0) return phase;
  std::vector<bool> done(static_cast<size_t>(image.size()), false);
  std::priority_queue<Pixel> edge;
  Index start = 0;
  for (Index i = 1; i < image.size(); ++i)
    if (std::norm(image.data()[i]) > std::norm(image.data()[start])) start = i;
  edge.push({0, start, start});
  while (!edge.empty()) {
    const Pixel next = edge.top();
    edge.pop();
    if (done[static_cast<size_t>(next.at)]) continue;
    done[static_cast<size_t>(next.at)] = true;
    const double angle = std::arg(image.data()[next.at]);
    phase.data()[next.at] =
        next.from == next.at ? angle : nearest_turn(angle, phase.data()[next.from]);
    const Index r = next.at / cols, c = next.at % cols;
    const auto visit = [&](Index row, Index col) {
      if (row < 0 || col < 0 || row >= rows || col >= cols) return;
      const Index at = row * cols + col;
      const float quality = std::norm(image(row, col));
      if (!done[static_cast<size_t>(at)])
        edge.push({std::isfinite(quality) ? quality : 0.0f, at, next.at});
    };
    visit(r - 1, c);
    visit(r + 1, c);
    visit(r, c - 1);
    visit(r, c + 1);
  }
  return phase;
}

RowMatrix<std::uint8_t> phase_picture(const RowMatrix<std::complex<float>>& image) {
  const std::complex<float> sum = image.sum();
  const float size = std::abs(sum);
  const std::complex<float> turn = size > 0 ? std::conj(sum) / size : std::complex<float>(1);
  return gray_picture(unwrapped_phase(turn * image));
}

}  // namespace udv

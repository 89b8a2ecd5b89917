// SPDX-License-Identifier: MIT
#include "udv/recover/phase_unwrapping.hpp"

#include <cmath>
#include <queue>
#include <vector>

namespace udv {
namespace {

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

RowMatrix<double> relative_phase(const RowMatrix<std::complex<float>>& image) {
  const std::complex<float> sum = image.sum();
  const float size = std::abs(sum);
  const std::complex<float> turn = size > 0 ? std::conj(sum) / size : std::complex<float>(1);
  return unwrapped_phase(turn * image);
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/phase_unwrapping.hpp"

#include <Eigen/Cholesky>
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

Index count_vortices(const RowMatrix<std::complex<float>>& image, double darkest) {
  const double floor =
      darkest * static_cast<double>(image.norm()) / std::sqrt(static_cast<double>(image.size()));
  Index count = 0;
  for (Index r = 0; r + 1 < image.rows(); ++r)
    for (Index c = 0; c + 1 < image.cols(); ++c) {
      const std::complex<float> around[5] = {image(r, c), image(r, c + 1), image(r + 1, c + 1),
                                             image(r + 1, c), image(r, c)};
      double turn = 0;
      bool dark = false;
      for (int i = 0; i < 4; ++i) {
        dark = dark || !(static_cast<double>(std::abs(around[i])) > floor);
        turn += static_cast<double>(std::arg(around[i + 1] * std::conj(around[i])));
      }
      count += !dark && std::abs(turn) > M_PI;
    }
  return count;
}

double phase_bowl(const RowMatrix<std::complex<float>>& image) {
  if (image.rows() < 2 || image.cols() < 2) return 0;
  const RowMatrix<double> phase = relative_phase(image);
  const double row = 0.5 * static_cast<double>(image.rows() - 1);
  const double col = 0.5 * static_cast<double>(image.cols() - 1);
  const double corner = std::hypot(row, col);
  Eigen::Matrix4d normal = 1e-12 * Eigen::Matrix4d::Identity();
  Eigen::Vector4d right = Eigen::Vector4d::Zero();
  for (Index r = 0; r < image.rows(); ++r)
    for (Index c = 0; c < image.cols(); ++c) {
      const double y = (static_cast<double>(r) - row) / corner;
      const double x = (static_cast<double>(c) - col) / corner;
      const Eigen::Vector4d at(1, x, y, x * x + y * y);
      const auto weight = static_cast<double>(std::abs(image(r, c)));
      if (!std::isfinite(weight)) continue;
      normal += weight * at * at.transpose();
      right += weight * phase(r, c) * at;
    }
  return Eigen::Vector4d(normal.ldlt().solve(right))(3);
}

RowMatrix<double> relative_phase(const RowMatrix<std::complex<float>>& image) {
  const std::complex<float> sum = image.sum();
  const float size = std::abs(sum);
  const std::complex<float> turn = size > 0 ? std::conj(sum) / size : std::complex<float>(1);
  return unwrapped_phase(turn * image);
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "recover/geometry_simplex.hpp"

#include <algorithm>
#include <cmath>

namespace udv {

Optics changed(Optics optics, const GeometryChange& change) {
  optics.rotation_degrees += change(0);
  optics.led_distance_mm *= std::exp(std::clamp(change(1), -1.0, 1.0));
  optics.x_offset_mm += change(2);
  optics.y_offset_mm += change(3);
  return optics;
}

GeometryChange climb(const std::function<double(const GeometryChange&)>& f,
                     const GeometryChange& start, const GeometryChange& sizes, int steps) {
  std::vector<std::pair<double, GeometryChange>> simplex{{f(start), start}};
  for (int i = 0; i < 4; ++i) {
    GeometryChange corner = start;
    corner(i) += sizes(i);
    simplex.emplace_back(f(corner), corner);
  }
  const auto higher = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (int step = 0; step < steps; ++step) {
    std::stable_sort(simplex.begin(), simplex.end(), higher);
    GeometryChange mean = GeometryChange::Zero();
    for (int i = 0; i < 4; ++i) mean += simplex[static_cast<size_t>(i)].second / 4;
    auto& worst = simplex.back();
    const auto at = [&](double t) {
      const GeometryChange p = mean + t * (worst.second - mean);
      return std::pair(f(p), p);
    };
    const auto reflected = at(-1);
    if (reflected.first > simplex.front().first) {
      const auto expanded = at(-2);
      worst = expanded.first > reflected.first ? expanded : reflected;
    } else if (reflected.first > simplex[3].first) {
      worst = reflected;
    } else if (const auto inner = at(0.5); inner.first > worst.first) {
      worst = inner;
    } else {
      for (int i = 1; i <= 4; ++i) {
        auto& corner = simplex[static_cast<size_t>(i)];
        corner.second = (corner.second + simplex.front().second) / 2;
        corner.first = f(corner.second);
      }
    }
  }
  return std::max_element(simplex.begin(), simplex.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

}  // namespace udv

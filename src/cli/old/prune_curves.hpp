// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/net/prune_curve.hpp"

namespace udv::cli {

/// A curve that stands beside the main one.
struct Beside {
  std::string name;  ///< of its columns
  std::vector<net::CurvePoint> curve;

  const net::CurvePoint* at(size_t r) const { return r < curve.size() ? &curve[r] : nullptr; }
};

/// One line per number of neurons, 1 to all.
std::string curve_csv(const std::vector<net::CurvePoint>& curve, const net::Pruning<float>& pruning,
                      const std::vector<Beside>& others);

/// A dozen points of the curve, closer together where few neurons are left.
std::string curve_sketch(const std::vector<net::CurvePoint>& curve,
                         const std::vector<Beside>& others, bool classes);

}  // namespace udv::cli

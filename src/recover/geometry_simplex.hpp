// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/recover/optics.hpp"

namespace udv {

/// Rotation in degrees, logarithm of the distance's factor, offsets in mm.
using GeometryChange = Eigen::Matrix<double, 4, 1, Eigen::DontAlign>;

Optics changed(Optics optics, const GeometryChange& change);

/// The simplex method of Nelder and Mead (1965) for a maximum of f: so many steps from `start` and
/// four corners that differ from it by one of the `sizes` each.
GeometryChange climb(const std::function<double(const GeometryChange&)>& f,
                     const GeometryChange& start, const GeometryChange& sizes, int steps);

}  // namespace udv

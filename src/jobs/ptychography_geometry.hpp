// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/observer.hpp"
#include "udv/recover/ptychography_field.hpp"

namespace udv::jobs {

/// The geometry that a run has chosen. It stands in front of the state in its checkpoint: who
/// resumes the run does not choose again, which may take longer than the rest.
struct ChosenGeometry {
  std::uint64_t capture = 0;  ///< capture_hash() of the images that it was chosen for
  Optics optics;
  std::vector<std::string> warnings;  ///< that the choice gave
  bool finished = true;               ///< the choice was not cut short by a time limit
};

/// Of images, setup and a known pupil.
std::uint64_t capture_hash(const PtychographyField& field);

/// What the payload of a checkpoint has in front of the state.
std::string to_bytes(const ChosenGeometry& geometry);

/// The geometry of a payload, where it has one that was chosen to the end for this field: the field
/// gets it.
bool take_geometry(const std::string& payload, PtychographyField& field);

/// From here on these hooks save states with the geometry in front and resume without it. A run
/// that starts from the beginning saves the geometry alone; so does one whose state is of another
/// geometry, which a time limit left.
Hooks with_geometry(Hooks hooks, const std::string& geometry);

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/net/calibration.hpp"

namespace udv::jobs {

/// Inputs and gradients of the layers that an adapter changes, over some sequences of a text, on
/// the CPU; the model is the one that the adapter names. Throws IoError naming a file.
net::Calibration calibrate_adapter(const std::string& adapter, const std::string& text,
                                   Index sequences = 64);

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "udv/net/calibration.hpp"

namespace udv::cli {

/// The LibTorch component is a program of its own, udv-deep, beside this one: loading LibTorch
/// takes half a second, which `udv complete` should not pay.

/// What the program was called with.
void remember_arguments(char** arguments);

bool has_deep_program();

/// Continues as udv-deep with the same arguments. Returns where it is not there.
void continue_as_deep_program();

/// The same in udv, and nothing in udv-deep itself.
void prefer_deep_program();

/// What calibrates an adapter with a text. In udv this continues as udv-deep, and is empty where
/// that is not there.
std::function<net::Calibration(const std::string& adapter, const std::string& text)>
text_calibrator();

}  // namespace udv::cli

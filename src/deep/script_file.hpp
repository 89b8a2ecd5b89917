// SPDX-License-Identifier: MIT
#pragma once

#include <torch/script.h>

#include <string>

namespace udv::deep {

/// Throws IoError naming the path.
torch::jit::Module load_script(const std::string& path, torch::Device device = torch::kCPU);

/// Atomically. Throws IoError naming the path.
void save_script(const torch::jit::Module& module, const std::string& path);

}  // namespace udv::deep

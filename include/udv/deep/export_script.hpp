// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/net/files/model_file.hpp"

// Nothing of LibTorch shows here.
namespace udv::deep {

/// Writes model.pt into `folder`: a model that was read from `model`, behind the built-in network
/// or the backbone of the same run where it was trained with one. Throws IoError naming the file.
void write_script(const std::filesystem::path& folder, const std::filesystem::path& model,
                  const net::Model<float>& head);

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/deep/network_arrays.hpp"

namespace udv::cli {

/// network.safetensors of a run of udv finetune: the built-in network, with its UDV blocks listed
/// in the metadata.
struct NetworkFile {
  std::vector<deep::NamedArray> arrays;
  std::vector<deep::BlockInfo> blocks;
};

/// Atomically. Throws IoError naming the path.
void write_network(const std::filesystem::path& path, const NetworkFile& file);
/// Throws IoError naming the path where it is no such file.
NetworkFile read_network(const std::filesystem::path& path);

/// Every block keeps the neurons that carry this share of the energy of UD. Returns name, neurons
/// before and after of each.
std::vector<std::vector<std::string>> prune_network(NetworkFile& file, double energy);

}  // namespace udv::cli

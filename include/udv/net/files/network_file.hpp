// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/network_arrays.hpp"

namespace udv::net {

/// network.safetensors of a run of `finetune`: the built-in network for pictures, with its UDV
/// blocks listed in the metadata.
struct NetworkFile {
  std::vector<NamedArray> arrays;
  std::vector<BlockInfo> blocks;
};

/// Writes atomically. Throws IoError naming the path.
UDV_EXPORT void write_network(const std::filesystem::path& path, const NetworkFile& file);
/// Throws IoError naming the path where it is no such file.
UDV_EXPORT NetworkFile read_network(const std::filesystem::path& path);

/// Neurons of one block before and after pruning.
struct PrunedBlock {
  std::string name;
  Index before = 0, after = 0;
};

/// Keeps in every block the neurons that carry this share of the energy of UD. Throws
/// InvalidArgument where an array of a block is missing or has another size.
UDV_EXPORT std::vector<PrunedBlock> prune_network(NetworkFile& file, double energy);

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#include "udv/net/files/network_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/require.hpp"
#include "udv/core/version.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/head.hpp"
#include "udv/net/prune.hpp"

namespace udv::net {
namespace {

using Json = nlohmann::json;

std::string array_name(const BlockInfo& info, const ParameterBlock& block) {
  return info.name + "." + block.name;
}

NamedArray& array_named(NetworkFile& file, const std::string& name) {
  const auto at = std::find_if(file.arrays.begin(), file.arrays.end(),
                               [&](const auto& array) { return array.name == name; });
  require(at != file.arrays.end(), "no tensor '", name, "'");
  return *at;
}

Network<float> block_network(const BlockInfo& info) {
  return {variant_named(info.variant), {info.inputs, info.width, info.outputs}, info.bias};
}

// The block as a network of its own.
Network<float> read_block(NetworkFile& file, const BlockInfo& info) {
  Network<float> network = block_network(info);
  for (const ParameterBlock& block : network.blocks()) {
    const NamedArray& array = array_named(file, array_name(info, block));
    require(static_cast<Index>(array.values.size()) == block.size(), "tensor '", array.name,
            "' has another size than its block");
    network.parameters().segment(block.offset, block.size()) =
        Eigen::Map<const Vector<float>>(array.values.data(), block.size());
  }
  return network;
}

void replace_block(NetworkFile& file, BlockInfo& info, const Network<float>& network) {
  std::erase_if(file.arrays,
                [&](const NamedArray& array) { return array.name.starts_with(info.name + "."); });
  for (const ParameterBlock& block : network.blocks()) {
    const float* const values = network.parameters().data() + block.offset;
    const bool list = block.is_bias || block.kind == LayerKind::kDiagonal;
    file.arrays.push_back(
        {array_name(info, block),
         list ? std::vector<Index>{block.cols} : std::vector<Index>{block.rows, block.cols},
         {values, values + block.size()}});
  }
  info.width = network.sizes().hidden;
  info.variant = network.variant().name;
}

}  // namespace

void write_network(const std::filesystem::path& path, const NetworkFile& file) {
  Json blocks = Json::array();
  for (const BlockInfo& b : file.blocks)
    blocks.push_back({{"name", b.name},
                      {"variant", b.variant},
                      {"inputs", b.inputs},
                      {"width", b.width},
                      {"outputs", b.outputs},
                      {"stride", b.stride},
                      {"bias", b.bias},
                      {"pixels", b.pixels}});
  std::vector<io::NamedTensor<float>> tensors;
  for (const NamedArray& array : file.arrays)
    tensors.push_back({array.name, array.shape, array.values.data()});
  io::write_safetensors(path, tensors,
                        {{"udv", version()}, {"network", "small"}, {"blocks", blocks.dump()}});
}

NetworkFile read_network(const std::filesystem::path& path) {
  const io::SafetensorsFile file(path);
  const auto blocks = file.metadata().find("blocks");
  require<IoError>(file.metadata().contains("network") && blocks != file.metadata().end(),
                   file.name(), ": not a network that udv finetune wrote");
  NetworkFile result;
  try {
    for (const Json& b : Json::parse(blocks->second))
      result.blocks.push_back({b.at("name"),
                               b.at("variant"),
                               b.at("inputs"),
                               b.at("width"),
                               b.at("outputs"),
                               b.at("stride"),
                               b.at("bias"),
                               b.at("pixels"),
                               {}});
  } catch (const Json::exception&) {
    throw IoError(message(file.name(), ": its list of blocks is damaged"));
  }
  for (const io::Tensor& tensor : file.tensors()) {
    const Vector<float> values = file.read<float>(tensor);
    require<IoError>(values.allFinite(), file.name(), ": tensor '", tensor.name,
                     "' holds a value that is not finite");
    result.arrays.push_back(
        {tensor.name, tensor.shape, {values.data(), values.data() + values.size()}});
  }
  return result;
}

std::vector<PrunedBlock> prune_network(NetworkFile& file, double energy) {
  std::vector<PrunedBlock> pruned;
  for (BlockInfo& info : file.blocks) {
    if (!block_network(info).variant().has_hidden()) continue;
    const Pruning<float> pruning(read_block(file, info));
    const Index rank = std::max<Index>(1, energy_rank(pruning.sizes(), energy));
    pruned.push_back({info.name, info.width, rank});
    replace_block(file, info, pruning.keep(rank));
  }
  return pruned;
}

}  // namespace udv::net

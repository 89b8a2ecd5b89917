// SPDX-License-Identifier: MIT
#include "cli/network_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "udv/core/error.hpp"
#include "udv/core/version.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/head.hpp"
#include "udv/net/prune.hpp"

namespace udv::cli {
namespace {

using Json = nlohmann::json;

std::string array_name(const deep::BlockInfo& info, const net::Block& block) {
  return info.name + "." + block.name;
}

deep::NamedArray& array_named(NetworkFile& file, const std::string& name) {
  const auto at = std::find_if(file.arrays.begin(), file.arrays.end(),
                               [&](const auto& array) { return array.name == name; });
  require(at != file.arrays.end(), "no tensor '", name, "'");
  return *at;
}

net::Network<float> block_network(const deep::BlockInfo& info) {
  return {net::variant_named(info.variant), {info.inputs, info.width, info.outputs}, info.bias};
}

}  // namespace

void write_network(const std::filesystem::path& path, const NetworkFile& file) {
  Json blocks = Json::array();
  for (const deep::BlockInfo& b : file.blocks)
    blocks.push_back({{"name", b.name},
                      {"variant", b.variant},
                      {"inputs", b.inputs},
                      {"width", b.width},
                      {"outputs", b.outputs},
                      {"stride", b.stride},
                      {"bias", b.bias},
                      {"pixels", b.pixels}});
  std::vector<io::NamedTensor<float>> tensors;
  for (const deep::NamedArray& array : file.arrays)
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

std::vector<std::vector<std::string>> prune_network(NetworkFile& file, double energy) {
  std::vector<std::vector<std::string>> rows;
  for (deep::BlockInfo& info : file.blocks) {
    net::Network<float> network = block_network(info);
    if (!network.variant().has_hidden()) continue;
    for (const net::Block& block : network.blocks()) {
      const deep::NamedArray& array = array_named(file, array_name(info, block));
      require(static_cast<Index>(array.values.size()) == block.size(), "tensor '", array.name,
              "' has another size than its block");
      network.parameters().segment(block.offset, block.size()) =
          Eigen::Map<const Vector<float>>(array.values.data(), block.size());
    }
    const net::Pruning<float> pruning(network);
    const Index rank = std::max<Index>(1, net::energy_rank(pruning.sizes(), energy));
    const net::Network<float> smaller = pruning.keep(rank);
    rows.push_back({info.name, std::to_string(info.width), std::to_string(rank)});
    std::erase_if(file.arrays, [&](const deep::NamedArray& array) {
      return array.name.starts_with(info.name + ".");
    });
    for (const net::Block& block : smaller.blocks()) {
      const float* const values = smaller.parameters().data() + block.offset;
      const bool list = block.is_bias || block.kind == net::LayerKind::kDiagonal;
      file.arrays.push_back(
          {array_name(info, block),
           list ? std::vector<Index>{block.cols} : std::vector<Index>{block.rows, block.cols},
           {values, values + block.size()}});
    }
    info.width = rank;
    info.variant = smaller.variant().name;
  }
  return rows;
}

}  // namespace udv::cli

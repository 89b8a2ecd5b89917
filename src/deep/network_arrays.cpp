// SPDX-License-Identifier: MIT
#include "deep/network_arrays.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "udv/deep/small_network.hpp"
#include "udv/deep/udv_linear.hpp"
#include "udv/net/head.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

const NamedArray& array_named(const std::vector<NamedArray>& arrays, const std::string& name) {
  const auto at = std::find_if(arrays.begin(), arrays.end(),
                               [&](const NamedArray& array) { return array.name == name; });
  require(at != arrays.end(), "no array '", name, "'");
  return *at;
}

NamedArray to_array(const std::string& name, const Tensor& values) {
  const Tensor here = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const float* const data = here.data_ptr<float>();
  return {name, {here.sizes().begin(), here.sizes().end()}, {data, data + here.numel()}};
}

void load(const NamedArray& array, const Tensor& values) {
  require(std::equal(array.shape.begin(), array.shape.end(), values.sizes().begin(),
                     values.sizes().end()),
          "array '", array.name, "' has another shape than the network");
  values.detach().copy_(torch::from_blob(const_cast<float*>(array.values.data()), values.sizes()));
}

}  // namespace

std::vector<NamedArray> arrays_of(const ChainImpl& network, const std::vector<Tensor>& parameters) {
  std::vector<NamedArray> all;
  const auto names = network.named_parameters();
  for (size_t i = 0; i < names.size(); ++i)
    all.push_back(to_array(names[i].key(), parameters.at(i)));
  for (const auto& item : network.named_buffers())
    all.push_back(to_array(item.key(), item.value()));
  return all;
}

std::vector<BlockInfo> blocks_of(const ChainImpl& network) {
  std::vector<BlockInfo> all;
  for (const auto& [name, block] : udv_blocks(network)) {
    const UDVLinearOptions& o = block->options();
    all.push_back({name, o.variant, o.inputs, o.width, o.outputs, o.stride, o.bias, o.pixels,
                   net::spectrum(block->to_network())});
  }
  return all;
}

std::shared_ptr<ChainImpl> network_from(std::int64_t channels,
                                        const std::vector<NamedArray>& arrays,
                                        const std::vector<BlockInfo>& blocks) {
  const torch::NoGradGuard no_grad;
  auto network = small_network(channels);
  for (const BlockInfo& info : blocks) {
    ReplaceOptions how;
    how.variant = info.variant;
    how.width = info.width;
    require(replace_linears(*network, info.name, how).size() == 1, "block '", info.name,
            "' is no layer of the built-in network");
  }
  for (const auto& item : network->named_parameters())
    load(array_named(arrays, item.key()), item.value());
  for (const auto& item : network->named_buffers())
    load(array_named(arrays, item.key()), item.value());
  return network;
}

std::int64_t channels_of(const std::vector<NamedArray>& arrays) {
  const NamedArray& first = array_named(arrays, "stage1.spatial.weight");
  require(first.shape.size() == 4, "array '", first.name, "' has ", first.shape.size(),
          " dimensions, 4 expected");
  return first.shape[1];
}

}  // namespace udv::deep

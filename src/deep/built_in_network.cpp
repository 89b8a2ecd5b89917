// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "deep/feature_network.hpp"
#include "deep/network_arrays.hpp"
#include "udv/deep/small_network.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

constexpr Index kFeatures = 128;

std::string layers_of(const ChainImpl& network) {
  constexpr size_t kEnding = sizeof(".weight") - 1;
  std::string layers;
  for (const auto& item : network.named_parameters())
    if (item.key().ends_with(".weight") && item.value().dim() > 1)
      layers += (layers.empty() ? "" : ", ") + item.key().substr(0, item.key().size() - kEnding);
  return layers;
}

void put_blocks(ChainImpl& network, const FinetuneOptions& options) {
  if (options.replace.empty()) return;
  ReplaceOptions how;
  how.variant = options.replace_variant;
  how.width = options.replace_width;
  const auto replaced = replace_linears(network, options.replace, how);
  require<IoError>(!replaced.empty(), "replace: no dense layer or 1 x 1 convolution fits '",
                   options.replace, "'; there are ", layers_of(network));
}

class BuiltInNetwork : public FeatureNetwork {
 public:
  BuiltInNetwork(const FinetuneOptions& options, Index channels, const DeviceAndType& where)
      : channels_(channels),
        where_(where),
        processes_(options.placement.processes),
        network_(small_network(channels)) {
    put_blocks(*network_, options);
    move();
  }

  Tensor forward(const Tensor& x) override { return network_->forward(x).to(torch::kFloat32); }
  Tensors parameters() const override { return network_->parameters(); }
  Tensors buffers() const override { return network_->buffers(); }
  void set_training(bool on) override { network_->train(on); }
  Index channels() const override { return channels_; }
  Index num_features() const override { return kFeatures; }
  bool normalises_together() const override { return processes_ != nullptr; }

  std::vector<std::shared_ptr<UDVLinearImpl>> udv_modules() const override {
    std::vector<std::shared_ptr<UDVLinearImpl>> all;
    for (const auto& [name, block] : udv_blocks(*network_)) all.push_back(block);
    return all;
  }
  std::vector<BlockInfo> blocks() const override { return blocks_of(*network_); }
  std::vector<NamedArray> arrays(const Tensors& values) const override {
    return arrays_of(*network_, values);
  }
  void load(const std::vector<NamedArray>& arrays, const std::vector<BlockInfo>& blocks) override {
    network_ = network_from(channels_, arrays, blocks);
    move();
  }

 private:
  // Convolutions and dense layers have half precision where the type asks for it.
  void move() {
    network_->to(where_.device);
    for (const auto& part : network_->modules())
      if (auto* const norm = dynamic_cast<NormImpl*>(part.get())) norm->processes = processes_;
    if (where_.type == torch::kFloat32) return;
    for (const auto& part : network_->modules())
      if (dynamic_cast<ConvolutionImpl*>(part.get()) || dynamic_cast<DenseImpl*>(part.get()))
        for (Tensor values : part->parameters(false)) values.set_data(values.to(where_.type));
  }

  Index channels_;
  DeviceAndType where_;
  std::shared_ptr<Processes> processes_;
  std::shared_ptr<ChainImpl> network_;
};

}  // namespace

std::unique_ptr<FeatureNetwork> built_in_network(const FinetuneOptions& options, Index channels,
                                                 const DeviceAndType& where) {
  return std::make_unique<BuiltInNetwork>(options, channels, where);
}

}  // namespace udv::deep

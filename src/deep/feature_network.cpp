// SPDX-License-Identifier: MIT
#include "deep/feature_network.hpp"

#include "udv/core/error.hpp"

namespace udv::deep {

void FeatureNetwork::load(const std::vector<NamedArray>&, const std::vector<BlockInfo>&) {
  throw InvalidArgument("weights of the built-in network found, but there is a backbone");
}

void FeatureNetwork::save(const std::string&, const Tensors&) const {
  throw InvalidArgument("save: the built-in network is no TorchScript file");
}

std::unique_ptr<FeatureNetwork> make_feature_network(const FinetuneOptions& options, Index channels,
                                                     const DeviceAndType& where) {
  return options.backbone.empty() ? built_in_network(options, channels, where)
                                  : script_backbone(options, where);
}

}  // namespace udv::deep

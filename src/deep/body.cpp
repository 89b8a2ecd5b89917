// SPDX-License-Identifier: MIT
#include "deep/body.hpp"

#include "udv/core/error.hpp"

namespace udv::deep {

void Body::load(const std::vector<NamedArray>&, const std::vector<BlockInfo>&) {
  throw InvalidArgument("weights of the built-in network found, but there is a backbone");
}

void Body::save(const std::string&, const Tensors&) const {
  throw InvalidArgument("save: the built-in network is no TorchScript file");
}

std::unique_ptr<Body> make_body(const FinetuneOptions& options, Index channels,
                                const Place& place) {
  return options.backbone.empty() ? network_body(options, channels, place)
                                  : script_body(options, place);
}

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#include "udv/deep/script.hpp"

#include <filesystem>

#include "udv/core/error.hpp"
#include "udv/deep/torchscript.hpp"

namespace udv::deep {

using net::LayerKind;
using net::LayerSpec;

// The lines of forward(): one for each layer.
torch::jit::Module to_torchscript(const UDVLinearImpl& block) {
  require(!block.options().pixels, "TorchScript: a block of pixels stands inside a network");
  torch::jit::Module module("UDVLinear");
  std::string lines = "def forward(self, x):\n";
  for (const auto& array : block.arrays()) {
    const std::string layer = array.block.name.substr(0, array.block.name.find('.'));
    module.register_parameter(array.block.is_bias ? layer + "_bias" : layer, array.values, false);
  }
  for (const LayerSpec& spec : block.variant().layers) {
    if (spec.kind == LayerKind::kDense)
      lines += message("    x = torch.matmul(x, self.", spec.name, ".t())",
                       block.options().bias ? message(" + self.", spec.name, "_bias") : "", "\n");
    else
      lines += spec.kind == LayerKind::kDiagonal ? message("    x = x * self.", spec.name, "\n")
                                                 : "    x = torch.relu(x)\n";
  }
  module.define(lines + "    return x\n");
  return module;
}

torch::jit::Module joined(const torch::jit::Module& backbone, const torch::jit::Module& head) {
  torch::jit::Module module("Joined");
  module.register_module("backbone", backbone);
  module.register_module("head", head);
  module.define("def forward(self, x):\n    return self.head.forward(self.backbone.forward(x))\n");
  return module;
}

namespace {

torch::Tensor floats(const Vector<double>& values) {
  return torch::from_blob(const_cast<double*>(values.data()), {values.size()}, torch::kFloat64)
      .to(torch::kFloat32);
}

// head((x - offset) * factor) * target_scale + target_offset, with what of it there is.
torch::jit::Module scaled(const torch::jit::Module& head, const Scaling& scaling) {
  torch::jit::Module module("Scaled");
  module.register_module("head", head);
  std::string lines = "def forward(self, x):\n";
  const auto add = [&](const char* name, const Vector<double>& values, const char* line) {
    if (values.size() == 0) return;
    module.register_buffer(name, floats(values));
    lines += line;
  };
  add("feature_offset", scaling.feature_offset, "    x = x - self.feature_offset\n");
  add("feature_factor", scaling.feature_factor, "    x = x * self.feature_factor\n");
  lines += "    x = self.head.forward(x)\n";
  add("target_scale", scaling.target_scale, "    x = x * self.target_scale\n");
  add("target_offset", scaling.target_offset, "    x = x + self.target_offset\n");
  module.define(lines + "    return x\n");
  return module;
}

}  // namespace

void write_torchscript(const std::string& path, const net::Network<float>& head,
                       const Scaling& scaling, const std::string& backbone) {
  try {
    torch::jit::Module module = scaled(to_torchscript(UDVLinearImpl(head)), scaling);
    if (!backbone.empty()) module = joined(torch::jit::load(backbone), module);
    module.eval();
    module.save(path + ".tmp");
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw IoError(message(path, ": ", text.substr(0, text.find('\n'))));
  }
  std::error_code failure;
  std::filesystem::rename(path + ".tmp", path, failure);
  require<IoError>(!failure, path, ": cannot be written: ", failure.message());
}

}  // namespace udv::deep

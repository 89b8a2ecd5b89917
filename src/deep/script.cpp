// SPDX-License-Identifier: MIT
#include "udv/deep/script.hpp"

#include "core/require.hpp"
#include "deep/network_arrays.hpp"
#include "deep/runtime.hpp"
#include "deep/script_file.hpp"
#include "udv/deep/torchscript.hpp"

namespace udv::deep {

using net::LayerKind;
using net::LayerSpec;

namespace {

// One line of forward() for a dense layer: on features, or on the channels of pictures.
std::string dense_line(const UDVLinearOptions& o, const LayerSpec& spec, bool first) {
  const std::string weight = "self." + spec.name, bias = weight + "_bias";
  if (!o.pixels)
    return message("    x = torch.matmul(x, ", weight, ".t())", o.bias ? " + " + bias : "", "\n");
  const Index stride = first ? o.stride : 1;
  return message("    x = torch.conv2d(x, ", weight, ".unsqueeze(-1).unsqueeze(-1), ",
                 o.bias ? bias : "None", ", [", stride, ", ", stride, "])\n");
}

std::string diagonal_line(const UDVLinearOptions& o, const LayerSpec& spec) {
  return message("    x = x * self.", spec.name, o.pixels ? ".view([-1, 1, 1])" : "", "\n");
}

}  // namespace

// The lines of forward(): one for each layer.
torch::jit::Module to_torchscript(const UDVLinearImpl& block) {
  const UDVLinearOptions& o = block.options();
  torch::jit::Module module("UDVLinear");
  for (const auto& array : block.arrays()) {
    const std::string layer = array.block.name.substr(0, array.block.name.find('.'));
    module.register_parameter(array.block.is_bias ? layer + "_bias" : layer, array.values, false);
  }
  std::string lines = "def forward(self, x):\n";
  const auto& layers = block.variant().layers;
  for (const LayerSpec& spec : layers) {
    if (spec.kind == LayerKind::kDense)
      lines += dense_line(o, spec, &spec == &layers.front());
    else
      lines +=
          spec.kind == LayerKind::kDiagonal ? diagonal_line(o, spec) : "    x = torch.relu(x)\n";
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
  add("feature_inverse_clip", scaling.feature_inverse_clip,
      "    x = x / torch.sqrt(1 + (x * self.feature_inverse_clip) ** 2)\n");
  lines += "    x = self.head.forward(x)\n";
  add("target_scale", scaling.target_scale, "    x = x * self.target_scale\n");
  add("target_offset", scaling.target_offset, "    x = x + self.target_offset\n");
  // Without the tangent below c exp(-16), where there is nothing to see.
  add("target_bend", scaling.target_bend,
      "    x = self.target_bend * (torch.exp(x.clamp(max=0)) + x.clamp(min=0))\n");
  module.define(lines + "    return x\n");
  return module;
}

}  // namespace

void write_torchscript(const std::string& path, const net::Network<float>& head,
                       const Scaling& scaling, const std::string& backbone) {
  guarded(path, [&] {
    torch::jit::Module module = scaled(to_torchscript(UDVLinearImpl(head)), scaling);
    if (!backbone.empty()) module = joined(load_script(backbone), module);
    module.eval();
    save_script(module, path);
  });
}

void write_torchscript(const std::string& path, const net::Network<float>& head,
                       const std::vector<NamedArray>& arrays,
                       const std::vector<BlockInfo>& blocks) {
  guarded(path, [&] {
    const auto network = network_from(channels_of(arrays), arrays, blocks);
    torch::jit::Module module =
        joined(to_torchscript(*network), to_torchscript(UDVLinearImpl(head)));
    module.eval();
    save_script(module, path);
  });
}

}  // namespace udv::deep

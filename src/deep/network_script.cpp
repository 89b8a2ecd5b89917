// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "udv/deep/script.hpp"

namespace udv::deep {
namespace {

using torch::jit::Module;

void define(Module& module, const std::string& lines) {
  module.define("def forward(self, x):\n" + lines + "    return x\n");
}

Module without_weights(const char* name, const std::string& line) {
  Module module(name);
  define(module, line);
  return module;
}

// Weight and, where there is one, bias. Returns what the bias is called in a line.
std::string add_weights(Module& module, const torch::Tensor& weight, const torch::Tensor& bias) {
  module.register_parameter("weight", weight, false);
  if (!bias.defined()) return "None";
  module.register_parameter("bias", bias, false);
  return "self.bias";
}

Module script_of(const DenseImpl& dense) {
  Module module("Dense");
  const std::string bias = add_weights(module, dense.weight, dense.bias);
  define(module, message("    x = torch.linear(x, self.weight, ", bias, ")\n"));
  return module;
}

Module script_of(const ConvolutionImpl& convolution) {
  const ConvolutionOptions& o = convolution.options();
  Module module("Convolution");
  const std::string bias = add_weights(module, convolution.weight, convolution.bias);
  define(module, message("    x = torch.conv2d(x, self.weight, ", bias, ", [", o.stride, ", ",
                         o.stride, "], [", o.size / 2, ", ", o.size / 2, "])\n"));
  return module;
}

// It learns in the program that loads it, too: train() and eval() set `training`.
Module script_of(const NormImpl& norm) {
  Module module("Norm");
  add_weights(module, norm.weight, norm.bias);
  module.register_buffer("running_mean", norm.running_mean);
  module.register_buffer("running_var", norm.running_var);
  module.register_attribute("training", c10::BoolType::get(), norm.is_training());
  define(module, message("    x = torch.batch_norm(x, self.weight, self.bias, self.running_mean, "
                         "self.running_var, self.training, ",
                         NormImpl::kMomentum, ", ", NormImpl::kEpsilon, ", True)\n",
                         norm.relu() ? "    x = torch.relu(x)\n" : ""));
  return module;
}

Module script_of(const ChainImpl& chain) {
  Module module("Chain");
  std::string lines;
  for (const auto& [name, part] : chain.parts()) {
    module.register_module(name, to_torchscript(*part));
    lines += "    x = self." + name + ".forward(x)\n";
  }
  define(module, lines);
  return module;
}

}  // namespace

Module to_torchscript(const TensorModule& network) {
  if (const auto* chain = dynamic_cast<const ChainImpl*>(&network)) return script_of(*chain);
  if (const auto* dense = dynamic_cast<const DenseImpl*>(&network)) return script_of(*dense);
  if (const auto* norm = dynamic_cast<const NormImpl*>(&network)) return script_of(*norm);
  if (const auto* convolution = dynamic_cast<const ConvolutionImpl*>(&network))
    return script_of(*convolution);
  if (const auto* block = dynamic_cast<const UDVLinearImpl*>(&network))
    return to_torchscript(*block);
  if (dynamic_cast<const ReluImpl*>(&network))
    return without_weights("Relu", "    x = torch.relu(x)\n");
  if (dynamic_cast<const PoolImpl*>(&network))
    return without_weights("Pool", "    x = torch.mean(x, [2, 3])\n");
  throw InvalidArgument(message("TorchScript: no way to write a module '", network.name(), "'"));
}

}  // namespace udv::deep

// SPDX-License-Identifier: MIT
#include "udv/deep/tensor_module.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/pattern.hpp"
#include "core/require.hpp"
#include "deep/synchronised_norm.hpp"
#include "udv/deep/small_network.hpp"
#include "udv/deep/udv_linear.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

// nn.Linear's and nn.Conv2d's: uniform in +- 1 / sqrt(inputs).
Tensor uniform(std::vector<std::int64_t> shape, std::int64_t inputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return torch::empty(shape).uniform_(-bound, bound);
}

using Visit = std::function<void(TensorModule& parent, const std::string& child,
                                 const std::string& path, const std::shared_ptr<TensorModule>&)>;

void visit_parts(TensorModule& module, const std::string& prefix, const Visit& visit) {
  for (const auto& [name, part] : module.parts()) {
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    visit_parts(*part, path, visit);
    visit(module, name, path, part);
  }
}

// The block that a layer becomes; nullptr where it is no matrix.
std::shared_ptr<UDVLinearImpl> block_of(const std::shared_ptr<TensorModule>& part,
                                        const ReplaceOptions& how) {
  UDVLinearOptions options;
  options.variant = how.variant;
  const auto width = [&](std::int64_t inputs, std::int64_t outputs) {
    const std::int64_t full = std::min(inputs, outputs);
    const auto share =
        static_cast<std::int64_t>(std::llround(how.width_share * static_cast<double>(full)));
    const std::int64_t wanted = std::clamp<std::int64_t>(share, 1, full);
    return how.width > 0 ? std::min<std::int64_t>(how.width, wanted) : wanted;
  };
  if (const auto dense = std::dynamic_pointer_cast<DenseImpl>(part)) {
    options.width = width(dense->weight.size(1), dense->weight.size(0));
    return udv_from_weights(dense->weight, dense->bias, options);
  }
  const auto convolution = std::dynamic_pointer_cast<ConvolutionImpl>(part);
  if (!convolution || convolution->options().size != 1) return nullptr;
  options.pixels = true;
  options.stride = convolution->options().stride;
  options.width = width(convolution->options().inputs, convolution->options().outputs);
  return udv_from_weights(convolution->weight.flatten(1), convolution->bias, options);
}

}  // namespace

void TensorModule::replace(const std::string& child, std::shared_ptr<TensorModule>) {
  throw InvalidArgument(message("replace: no child '", child, "' in ", name()));
}

ChainImpl::ChainImpl(const std::vector<Part>& parts) {
  for (const auto& [name, module] : parts) push_back(name, module);
}

void ChainImpl::push_back(const std::string& name, std::shared_ptr<TensorModule> module) {
  register_module(name, module);
  parts_.emplace_back(name, std::move(module));
}

Tensor ChainImpl::forward(Tensor x) {
  for (const auto& [name, part] : parts_) x = part->forward(x);
  return x;
}

void ChainImpl::replace(const std::string& child, std::shared_ptr<TensorModule> module) {
  for (auto& [name, part] : parts_) {
    if (name != child) continue;
    part = replace_module(name, std::move(module));
    return;
  }
  TensorModule::replace(child, module);
}

DenseImpl::DenseImpl(std::int64_t inputs, std::int64_t outputs, bool with_bias) {
  weight = register_parameter("weight", uniform({outputs, inputs}, inputs));
  if (with_bias) bias = register_parameter("bias", uniform({outputs}, inputs));
}

Tensor DenseImpl::forward(Tensor x) {
  return torch::linear(x, weight, bias);
}

ConvolutionImpl::ConvolutionImpl(const ConvolutionOptions& o) : options_(o) {
  const std::int64_t inputs = o.inputs * o.size * o.size;
  weight = register_parameter("weight", uniform({o.outputs, o.inputs, o.size, o.size}, inputs));
  if (o.bias) bias = register_parameter("bias", uniform({o.outputs}, inputs));
}

Tensor ConvolutionImpl::forward(Tensor x) {
  return torch::conv2d(x, weight, bias, options_.stride, options_.size / 2);
}

NormImpl::NormImpl(std::int64_t channels, bool relu) : relu_(relu) {
  weight = register_parameter("weight", torch::ones(channels));
  bias = register_parameter("bias", torch::zeros(channels));
  running_mean = register_buffer("running_mean", torch::zeros(channels));
  running_var = register_buffer("running_var", torch::ones(channels));
}

Tensor NormImpl::forward(Tensor x) {
  const Tensor y = processes && is_training()
                       ? synchronised_norm(*processes, x, {weight, bias, running_mean, running_var},
                                           kMomentum, kEpsilon)
                       : torch::batch_norm(x, weight, bias, running_mean, running_var,
                                           is_training(), kMomentum, kEpsilon, true);
  return relu_ ? torch::relu(y) : y;
}

std::vector<std::string> replace_linears(TensorModule& module, const std::string& pattern,
                                         const ReplaceOptions& options) {
  std::vector<std::string> replaced;
  visit_parts(module, "",
              [&](TensorModule& parent, const std::string& child, const std::string& path,
                  const std::shared_ptr<TensorModule>& part) {
                if (!matches_pattern(pattern, path)) return;
                const auto block = block_of(part, options);
                if (!block) return;
                parent.replace(child, block);
                replaced.push_back(path);
              });
  return replaced;
}

std::vector<std::pair<std::string, std::shared_ptr<UDVLinearImpl>>> udv_blocks(
    const torch::nn::Module& module) {
  std::vector<std::pair<std::string, std::shared_ptr<UDVLinearImpl>>> blocks;
  for (const auto& child : module.named_children()) {
    if (const auto block = std::dynamic_pointer_cast<UDVLinearImpl>(child.value())) {
      blocks.emplace_back(child.key(), block);
      continue;
    }
    for (auto& [name, block] : udv_blocks(*child.value()))
      blocks.emplace_back(child.key() + "." + name, block);
  }
  return blocks;
}

std::map<std::string, Index> prune_blocks(TensorModule& module, const PruneTarget& keep) {
  std::map<std::string, Index> kept;
  visit_parts(module, "",
              [&](TensorModule& parent, const std::string& child, const std::string& path,
                  const std::shared_ptr<TensorModule>& part) {
                const auto block = std::dynamic_pointer_cast<UDVLinearImpl>(part);
                if (!block || !block->variant().has_hidden()) return;
                PruneTarget how = keep;
                how.rank = std::min(how.rank, block->options().width);
                const auto smaller = block->prune(how);
                parent.replace(child, smaller);
                kept[path] = smaller->options().width;
              });
  return kept;
}

namespace {

std::shared_ptr<ChainImpl> stage(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  using Options = ConvolutionOptions;
  return std::make_shared<ChainImpl>(std::vector<ChainImpl::Part>{
      {"spatial", std::make_shared<ConvolutionImpl>(Options{inputs, outputs, 3, stride})},
      {"norm1", std::make_shared<NormImpl>(outputs)},
      {"pointwise", std::make_shared<ConvolutionImpl>(Options{outputs, outputs, 1, 1})},
      {"norm2", std::make_shared<NormImpl>(outputs)}});
}

}  // namespace

std::shared_ptr<ChainImpl> small_network(std::int64_t channels) {
  return std::make_shared<ChainImpl>(
      std::vector<ChainImpl::Part>{{"stage1", stage(channels, 32, 1)},
                                   {"stage2", stage(32, 64, 2)},
                                   {"stage3", stage(64, 128, 2)},
                                   {"pool", std::make_shared<PoolImpl>()},
                                   {"dense", std::make_shared<DenseImpl>(128, 128)},
                                   {"relu", std::make_shared<ReluImpl>()}});
}

}  // namespace udv::deep

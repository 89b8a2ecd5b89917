// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>

#include "core/require.hpp"
#include "udv/core/random.hpp"
#include "udv/deep/llama.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;

// "q" is the matrix whose name ends in "q_proj".
template <typename Layer>
auto& linear_named(Layer& layer, const std::string& module) {
  for (auto* linear : layer.linears())
    if (linear->name.ends_with("." + module + "_proj")) return *linear;
  throw InvalidArgument(
      message("module '", module, "' found, one of q, k, v, o, gate, up, down expected"));
}

std::shared_ptr<UDVLinearImpl> make_block(const AdaptedLinear& linear, Index rank,
                                          const std::string& variant) {
  auto block =
      std::make_shared<UDVLinearImpl>(linear.weight.size(1), linear.weight.size(0), rank, variant);
  block->to(linear.weight.device());
  return block;
}

RowMatrix<float> to_matrix(const Tensor& values) {
  const Tensor copy = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return Eigen::Map<const RowMatrix<float>>(copy.data_ptr<float>(), copy.size(0),
                                            copy.dim() > 1 ? copy.size(1) : 1);
}

Tensor from_matrix(const RowMatrix<float>& values) {
  return torch::from_blob(const_cast<float*>(values.data()), {values.rows(), values.cols()});
}

// U = [A; 0], w = [d; 0], V = [B, 0] up to the rank of the block; d goes into U where the block has
// no diagonal.
void fill_block(const net::AdapterBlock& from, UDVLinearImpl& block) {
  const torch::NoGradGuard no_grad;
  for (const auto& array : block.arrays()) array.values.detach().zero_();
  const Index r = from.rank();
  if (r == 0) return;
  const Tensor* const w = block.find("D.weight");
  const RowMatrix<float> A = w ? from.A : RowMatrix<float>(from.d.asDiagonal() * from.A);
  block.find("U.weight")->detach().narrow(0, 0, r).copy_(from_matrix(A));
  block.find("V.weight")->detach().narrow(1, 0, r).copy_(from_matrix(from.B));
  if (w) w->detach().narrow(0, 0, r).copy_(from_matrix(from.d).flatten());
}

}  // namespace

const std::string& AdapterOptions::variant() const {
  static const std::string kUdv = "UDV", kUv = "UV";
  require(method == "lora" || method == "lora-udv", "method '", method,
          "' found, lora or lora-udv expected");
  return method == "lora" ? kUv : kUdv;
}

void AdapterOptions::validate() const {
  variant();
  require(rank > 0, "rank is ", rank, ", at least 1 expected");
  require(deviation > 0 && std::isfinite(deviation), "deviation of A is ", deviation,
          ", a number above 0 expected");
  require(!modules.empty(), "no modules found, some of q, k, v, o, gate, up, down expected");
}

void Llama::check_adapters(const AdapterOptions& options) const {
  options.validate();
  for (const Layer& layer : layers_)
    for (const std::string& module : options.modules) {
      const AdaptedLinear& linear = linear_named(layer, module);
      const Index most = std::max(linear.weight.size(0), linear.weight.size(1));
      require(options.rank <= most, "rank ", options.rank, " found, up to ", most, " expected for ",
              linear.name);
    }
}

void Llama::add_adapters(const AdapterOptions& options, std::uint64_t seed) {
  check_adapters(options);
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) linear->adapter = nullptr;
  Random random(seed, kStreamWeights);
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_)
    for (const std::string& module : options.modules) {
      AdaptedLinear& linear = linear_named(layer, module);
      linear.adapter = make_block(linear, options.rank, options.variant());
      RowMatrix<float> A(options.rank, linear.weight.size(1));
      random.fill_normal(A);
      linear.adapter->find("U.weight")
          ->detach()
          .copy_(from_matrix(A * static_cast<float>(options.deviation)));
      linear.adapter->find("V.weight")->detach().zero_();
      if (const Tensor* const w = linear.adapter->find("D.weight")) w->detach().fill_(1);
    }
}

std::vector<const AdaptedLinear*> Llama::adapted() const {
  std::vector<const AdaptedLinear*> all;
  for (const Layer& layer : layers_)
    for (const AdaptedLinear* linear : layer.linears())
      if (linear->adapter) all.push_back(linear);
  return all;
}

std::vector<std::shared_ptr<UDVLinearImpl>> Llama::adapter_blocks() const {
  std::vector<std::shared_ptr<UDVLinearImpl>> all;
  for (const AdaptedLinear* linear : adapted()) all.push_back(linear->adapter);
  return all;
}

std::vector<Tensor> Llama::adapter_parameters() const {
  std::vector<Tensor> all;
  for (const auto& block : adapter_blocks())
    for (const auto& array : block->arrays()) all.push_back(array.values);
  return all;
}

net::Adapter Llama::adapter() const {
  net::Adapter result;
  for (const AdaptedLinear* linear : adapted()) {
    const UDVLinearImpl& block = *linear->adapter;
    const Tensor* const w = block.find("D.weight");
    result.method = w ? "lora-udv" : "lora";
    result.blocks.push_back(
        {linear->name, to_matrix(*block.find("U.weight")),
         w ? Vector<float>(to_matrix(*w).col(0)) : Vector<float>::Ones(block.options().width),
         to_matrix(*block.find("V.weight"))});
  }
  return result;
}

void Llama::set_adapter(const net::Adapter& adapter) {
  std::map<std::string, AdaptedLinear*> by_name;
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) by_name[linear->name] = linear;
  for (const auto& [name, linear] : by_name)
    if (linear->adapter) fill_block({name, {}, {}, {}}, *linear->adapter);
  for (const net::AdapterBlock& block : adapter.blocks) {
    const auto at = by_name.find(block.name);
    require(at != by_name.end(), "adapter for '", block.name,
            "' found, the model has no such matrix");
    AdaptedLinear& linear = *at->second;
    const Index outputs = linear.weight.size(0), inputs = linear.weight.size(1);
    require(block.A.cols() == inputs && block.B.rows() == outputs, "adapter for '", block.name,
            "' of shape ", block.B.rows(), " x ", block.A.cols(), " found, ", outputs, " x ",
            inputs, " expected");
    if (block.rank() == 0) continue;
    if (!linear.adapter || linear.adapter->options().width < block.rank())
      linear.adapter = make_block(linear, block.rank(), adapter.method == "lora" ? "UV" : "UDV");
    fill_block(block, *linear.adapter);
  }
}

void Llama::merge_adapters() {
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) {
      if (!linear->adapter) continue;
      const Tensor change = linear->adapter->merge()->weight.detach();
      linear->weight.copy_(linear->weight.to(torch::kFloat32) + change);
      require(linear->weight.isfinite().all().item<bool>(), "'", linear->name,
              "' with its adapter inside holds a value that is not finite");
      linear->adapter = nullptr;
    }
}

}  // namespace udv::deep

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

// Of adapters of this method, and the other way round.
struct MethodVariant {
  std::string method, variant;
};
const MethodVariant kMethods[] = {
    {"lora-udv", "UDV"}, {"lora", "UV"}, {"adalora", "UDV-unconstrained"}};

const std::string& variant_of(const std::string& method) {
  for (const MethodVariant& known : kMethods)
    if (known.method == method) return known.variant;
  throw InvalidArgument(message("method '", method, "' found, lora, lora-udv or adalora expected"));
}

const std::string& method_of(const std::string& variant) {
  for (const MethodVariant& known : kMethods)
    if (known.variant == variant) return known.method;
  throw InvalidArgument(message("adapters of the variant ", variant, " found"));
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

// r x in numbers as the options say.
RowMatrix<float> first_factor(const AdapterOptions& options, Index rows, Index cols,
                              Random& random) {
  RowMatrix<float> A(rows, cols);
  if (options.start == "uniform") {
    const double bound = 1 / std::sqrt(static_cast<double>(cols));
    for (float& value : A.reshaped<Eigen::RowMajor>())
      value = static_cast<float>((2 * random.uniform() - 1) * bound);
    return A;
  }
  random.fill_normal(A);
  return options.start == "sphere" ? RowMatrix<float>(A / A.norm())
                                   : RowMatrix<float>(A * static_cast<float>(options.deviation));
}

// Normal, with vectors of so many numbers that have length 1, about.
Tensor normal_vectors(const Tensor& like, Index length, Random& random) {
  RowMatrix<float> values(like.size(0), like.size(1));
  random.fill_normal(values);
  values /= std::sqrt(static_cast<float>(length));
  return from_matrix(values).clone();
}

// The arrays of a fresh adapter.
void start_block(const AdapterOptions& options, UDVLinearImpl& block, Random& random) {
  const Tensor U = block.find("U.weight")->detach(), V = block.find("V.weight")->detach();
  const Tensor* const w = block.find("D.weight");
  if (options.method == "adalora") {
    U.copy_(normal_vectors(U, U.size(1), random));
    V.copy_(normal_vectors(V, V.size(0), random));
    w->detach().zero_();
    return;
  }
  U.copy_(from_matrix(first_factor(options, U.size(0), U.size(1), random)));
  V.zero_();
  if (w) w->detach().fill_(1);
}

// Triplets that adalora has dropped are zeros; they go.
net::AdapterBlock without_zeros(const net::AdapterBlock& block) {
  std::vector<Index> kept;
  for (Index j = 0; j < block.rank(); ++j)
    if (block.d(j) != 0) kept.push_back(j);
  return {block.name, block.A(kept, Eigen::all), block.d(kept), block.B(Eigen::all, kept)};
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

const std::vector<std::string>& adapter_methods() {
  static const std::vector<std::string> all{"lora-udv", "lora", "adalora"};
  return all;
}

const std::vector<std::string>& adapter_modules() {
  static const std::vector<std::string> all{"q",  "k",    "v",         "o",  "gate",
                                            "up", "down", "attention", "all"};
  return all;
}

const std::string& AdapterOptions::variant() const {
  return variant_of(method);
}

Index AdapterOptions::width() const {
  return method == "adalora" && first_rank > 0 ? first_rank : rank;
}

double AdapterOptions::scale() const {
  return method == "lora" && alpha > 0 ? alpha / static_cast<double>(rank) : 1;
}

std::vector<std::string> AdapterOptions::module_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& module : modules) {
    const bool all = module == "all";
    if (!all && module != "attention") add(module);
    if (all || module == "attention")
      for (const char* name : {"q", "k", "v", "o"}) add(name);
    if (all)
      for (const char* name : {"gate", "up", "down"}) add(name);
  }
  return names;
}

void AdapterOptions::validate() const {
  variant();
  require(rank > 0, "rank is ", rank, ", at least 1 expected");
  require(first_rank == 0 || (method == "adalora" && first_rank >= rank), "first rank is ",
          first_rank, ", at least the rank ", rank, " expected, and the method adalora");
  require(alpha >= 0 && std::isfinite(alpha) && (alpha == 0 || method == "lora"), "alpha is ",
          alpha, ", a number of at least 0 expected, and the method lora");
  require(start == "normal" || start == "uniform" || start == "sphere", "start of A is '", start,
          "', normal, uniform or sphere expected");
  require(deviation > 0 && std::isfinite(deviation), "deviation of A is ", deviation,
          ", a number above 0 expected");
  require(!modules.empty(), "no modules found, some of q, k, v, o, gate, up, down expected");
}

void Llama::check_adapters(const AdapterOptions& options) const {
  options.validate();
  for (const Layer& layer : layers_)
    for (const std::string& module : options.module_names()) {
      const AdaptedLinear& linear = linear_named(layer, module);
      const Index most = std::max(linear.weight.size(0), linear.weight.size(1));
      require(options.width() <= most, "rank ", options.width(), " found, up to ", most,
              " expected for ", linear.name);
    }
}

void Llama::add_adapters(const AdapterOptions& options, std::uint64_t seed) {
  check_adapters(options);
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) {
      linear->adapter = nullptr;
      linear->scale = 1;
    }
  Random random(seed, kStreamWeights);
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_)
    for (const std::string& module : options.module_names()) {
      AdaptedLinear& linear = linear_named(layer, module);
      linear.adapter = make_block(linear, options.width(), options.variant());
      linear.scale = options.scale();
      start_block(options, *linear.adapter, random);
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
    result.method = method_of(block.variant().name);
    const auto scale = static_cast<float>(linear->scale);
    net::AdapterBlock change{linear->name, to_matrix(*block.find("U.weight")),
                             w ? Vector<float>(to_matrix(*w).col(0))
                               : Vector<float>::Constant(block.options().width, scale),
                             to_matrix(*block.find("V.weight"))};
    if (result.method == "adalora") change = without_zeros(change);
    result.blocks.push_back(std::move(change));
  }
  return result;
}

void Llama::set_adapter(const net::Adapter& adapter) {
  std::map<std::string, AdaptedLinear*> by_name;
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) {
      by_name[linear->name] = linear;
      linear->scale = 1;  // it is in d
    }
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
      linear.adapter = make_block(linear, block.rank(), variant_of(adapter.method));
    fill_block(block, *linear.adapter);
  }
}

void Llama::merge_adapters() {
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_)
    for (AdaptedLinear* linear : layer.linears()) {
      if (!linear->adapter) continue;
      const Tensor change = linear->adapter->merge()->weight.detach();
      linear->weight.copy_(torch::add(linear->weight.to(torch::kFloat32), change, linear->scale));
      require(linear->weight.isfinite().all().item<bool>(), "'", linear->name,
              "' with its adapter inside holds a value that is not finite");
      linear->adapter = nullptr;
      linear->scale = 1;
    }
}

}  // namespace udv::deep

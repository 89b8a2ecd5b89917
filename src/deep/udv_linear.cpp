// SPDX-License-Identifier: MIT
#include "udv/deep/udv_linear.hpp"

#include <cmath>

#include "core/require.hpp"
#include "deep/diagonal.hpp"
#include "deep/factored_product.hpp"
#include "net/gram_svd.hpp"
#include "udv/net/head.hpp"

namespace udv::deep {
namespace {

using net::Constraint;
using net::LayerKind;
using net::LayerSpec;
using torch::Tensor;

// One layer's arrays, so that names are those of net: "U.weight", "U.bias".
class ArraysImpl : public torch::nn::Module {};

net::Network<float> network_of(const UDVLinearOptions& o) {
  return {net::variant_named(o.variant), {o.inputs, o.width, o.outputs}, o.bias};
}

UDVLinearOptions options_of(const net::Network<float>& network, bool pixels, Index stride) {
  const net::Sizes& sizes = network.sizes();
  return {sizes.inputs,   sizes.outputs, sizes.hidden, network.variant().name,
          network.bias(), pixels,        stride};
}

std::vector<std::int64_t> shape_of(const net::ParameterBlock& block) {
  if (block.is_bias || block.kind == LayerKind::kDiagonal) return {block.cols};
  return {block.rows, block.cols};
}

RowMatrix<double> to_matrix(const Tensor& values) {
  const Tensor copy = values.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  return Eigen::Map<const RowMatrix<double>>(copy.data_ptr<double>(), copy.size(0), copy.size(1));
}

Tensor to_tensor(const Vector<double>& values) {
  return torch::from_blob(const_cast<double*>(values.data()), {values.size()}, torch::kFloat64)
      .clone();
}

}  // namespace

UDVLinearImpl::UDVLinearImpl(const UDVLinearOptions& options)
    : options_(options), variant_(&net::variant_named(options.variant)) {
  require(
      options.inputs > 0 && options.outputs > 0 && (options.width > 0 || !variant_->has_hidden()),
      "UDVLinear: sizes ", options.inputs, "-", options.width, "-", options.outputs,
      " found, at least 1 each expected");
  make_arrays();
  torch::NoGradGuard no_grad;
  std::int64_t inputs = 1;
  for (Array& array : arrays_) {
    if (array.block.kind == LayerKind::kDiagonal) continue;
    if (!array.block.is_bias) inputs = array.block.cols;
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    array.values.uniform_(-bound, bound);
  }
  project();
}

UDVLinearImpl::UDVLinearImpl(Index inputs, Index outputs, Index width, const std::string& variant)
    : UDVLinearImpl(UDVLinearOptions{inputs, outputs, width, variant}) {}

UDVLinearImpl::UDVLinearImpl(const net::Network<float>& network, bool pixels, Index stride)
    : options_(options_of(network, pixels, stride)), variant_(&network.variant()) {
  make_arrays();
  load(network);
}

void UDVLinearImpl::make_arrays() {
  const auto& kinds = variant_->layers;
  one_product_ = kinds.size() == 3 && kinds[0].kind == LayerKind::kDense &&
                 kinds[1].kind == LayerKind::kDiagonal && kinds[2].kind == LayerKind::kDense &&
                 !options_.bias && !options_.pixels;
  std::map<std::string, std::shared_ptr<ArraysImpl>> layers;
  const net::Network<float> shape = network_of(options_);
  for (const net::ParameterBlock& block : shape.blocks()) {
    const size_t dot = block.name.find('.');
    const std::string layer = block.name.substr(0, dot);
    auto& module = layers[layer];
    if (!module) module = register_module(layer, std::make_shared<ArraysImpl>());
    arrays_.push_back({block, module->register_parameter(block.name.substr(dot + 1),
                                                         torch::ones(shape_of(block)))});
  }
}

const Tensor* UDVLinearImpl::find(const std::string& name) const {
  for (const Array& array : arrays_)
    if (array.block.name == name) return &array.values;
  return nullptr;
}

Tensor UDVLinearImpl::apply(const std::string& layer, const Tensor& W, Tensor x) const {
  const auto like_x = [&](const Tensor& values) { return values.to(x.scalar_type()); };
  const Tensor* const bias = find(layer + ".bias");
  const Tensor b = bias ? like_x(*bias) : Tensor();
  if (!options_.pixels) return torch::linear(x, like_x(W), b);
  const Index stride = layer == variant_->layers.front().name ? options_.stride : 1;
  if (x.is_cuda()) return torch::conv2d(x, like_x(W).unsqueeze(-1).unsqueeze(-1), b, stride);
  // On the CPU one product per picture is faster.
  if (stride > 1) x = x.slice(2, 0, x.size(2), stride).slice(3, 0, x.size(3), stride);
  Tensor y = torch::matmul(like_x(W), x.flatten(2));
  if (b.defined()) y = y + b.unsqueeze(1);
  return y.view({x.size(0), W.size(0), x.size(2), x.size(3)});
}

Tensor UDVLinearImpl::forward(Tensor x) {
  const Index axis = options_.pixels ? 1 : x.dim() - 1;
  require(x.dim() > axis && axis >= 0 && x.size(axis) == options_.inputs,
          "UDVLinear: ", x.dim() > axis && axis >= 0 ? x.size(axis) : 0, " features found, ",
          options_.inputs, " expected");
  if (one_product_ && x.is_cuda()) {
    const Tensor& w = *find("D.weight");
    if (!counters_.defined() || counters_.device() != w.device()) counters_ = column_counters(w);
    return factored_product(x, *find("U.weight"), w, *find("V.weight"), counters_);
  }
  const Index samples = x.numel() / options_.inputs / (options_.stride * options_.stride);
  const auto& layers = variant_->layers;
  Tensor pending;  // a diagonal on its way into the next dense layer
  for (size_t l = 0; l < layers.size(); ++l) {
    const LayerSpec& spec = layers[l];
    if (spec.kind == LayerKind::kRelu) {
      x = torch::relu(x);
    } else if (spec.kind == LayerKind::kDense) {
      Tensor W = *find(spec.name + ".weight");
      if (pending.defined()) W = scaled_columns(W, pending, x.scalar_type());
      pending = Tensor();
      x = apply(spec.name, W, x);
    } else {
      const Tensor w = *find("D.weight");
      const bool into_next = l + 1 < layers.size() && layers[l + 1].kind == LayerKind::kDense;
      if (into_next && samples >= options_.outputs)
        pending = w;
      else
        x = x * (options_.pixels ? w.view({-1, 1, 1}) : w).to(x.scalar_type());
    }
  }
  return x;
}

namespace {

// W / max(1, |W|), where the norm of half precision numbers is a single precision one. An array of
// one number, not a number: that would be rounded to the type of W first.
void project_ball(const Tensor& W, at::IntArrayRef over) {
  const auto type = W.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
  const Tensor norm = at::linalg_vector_norm(W, 2, over, true, type);
  W.div_(norm.clamp_min_(1));
}

}  // namespace

void UDVLinearImpl::project() {
  torch::NoGradGuard no_grad;
  for (const Array& array : arrays_) {
    const Tensor W = array.values.detach();
    switch (array.block.constraint) {
      case Constraint::kFree:
        break;
      case Constraint::kBall:
        project_ball(W, {0, 1});
        break;
      case Constraint::kNeuronBalls:
        project_ball(W, {array.block.neurons == net::Neurons::kRows ? 1 : 0});
        break;
      case Constraint::kNonnegative:
        W.clamp_min_(0);
        break;
    }
  }
}

net::Network<float> UDVLinearImpl::to_network() const {
  net::Network<float> network = network_of(options_);
  for (const Array& array : arrays_) {
    const Tensor values = array.values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    network.parameters().segment(array.block.offset, array.block.size()) =
        Eigen::Map<const Vector<float>>(values.data_ptr<float>(), array.block.size());
  }
  return network;
}

void UDVLinearImpl::load(const net::Network<float>& network) {
  require(network.variant().name == variant_->name && network.bias() == options_.bias &&
              network.sizes().inputs == options_.inputs &&
              network.sizes().hidden == options_.width &&
              network.sizes().outputs == options_.outputs,
          "UDVLinear: weights of a ", network.variant().name, " ", to_string(network.sizes()),
          " found, those of a ", variant_->name, " ",
          to_string(net::Sizes{options_.inputs, options_.width, options_.outputs}), " expected");
  torch::NoGradGuard no_grad;
  for (const Array& array : arrays_) {
    auto* const data = const_cast<float*>(network.parameters().data()) + array.block.offset;
    array.values.detach().copy_(torch::from_blob(data, shape_of(array.block), torch::kFloat32));
  }
}

Tensor UDVLinearImpl::spectrum() const {
  return to_tensor(net::spectrum(to_network()));
}

std::shared_ptr<UDVLinearImpl> UDVLinearImpl::prune(const PruneTarget& keep,
                                                    net::PruneForm form) const {
  require((keep.rank > 0) != (keep.energy > 0) && keep.energy <= 1, "prune: rank ", keep.rank,
          " and energy ", keep.energy, " found, one of both expected, an energy up to 1");
  const net::Pruning<float> pruning(to_network());
  const Index rank = keep.rank > 0
                         ? keep.rank
                         : std::max<Index>(1, net::energy_rank(pruning.sizes(), keep.energy));
  auto smaller =
      std::make_shared<UDVLinearImpl>(pruning.keep(rank, form), options_.pixels, options_.stride);
  smaller->to(arrays_.front().values.device(), arrays_.front().values.scalar_type());
  smaller->train(is_training());
  return smaller;
}

torch::nn::Linear UDVLinearImpl::merge() const {
  require(!variant_->has(LayerKind::kRelu), "merge: a ", variant_->name, " block is not linear");
  torch::NoGradGuard no_grad;
  Tensor W, b;
  for (const LayerSpec& spec : variant_->layers) {
    const Tensor layer = find(spec.name + ".weight")->detach().to(torch::kFloat64);
    if (spec.kind == LayerKind::kDiagonal) {
      W = layer.unsqueeze(1) * W;
      if (b.defined()) b = layer * b;
      continue;
    }
    W = W.defined() ? layer.matmul(W) : layer;
    if (!options_.bias) continue;
    const Tensor own = find(spec.name + ".bias")->detach().to(torch::kFloat64);
    b = b.defined() ? layer.matmul(b) + own : own;
  }
  torch::nn::Linear linear(
      torch::nn::LinearOptions(options_.inputs, options_.outputs).bias(options_.bias));
  const Tensor& like = arrays_.front().values;
  linear->to(like.device(), like.scalar_type());
  linear->weight.copy_(W);
  if (options_.bias) linear->bias.copy_(b);
  return linear;
}

std::shared_ptr<UDVLinearImpl> udv_from_weights(const Tensor& W, const Tensor& bias,
                                                UDVLinearOptions o) {
  const net::Variant& variant = net::variant_named(o.variant);
  require(!variant.has(LayerKind::kRelu), "conversion: a ", o.variant,
          " block is not linear, a dense layer cannot become one");
  o.inputs = W.size(1);
  o.outputs = W.size(0);
  const Index full = std::min(o.inputs, o.outputs);
  require(o.width <= full, "conversion: width ", o.width, " found, up to ", full, " expected");
  if (o.width == 0) o.width = full;
  if (!variant.has_hidden()) o.width = 0;
  o.bias = bias.defined();
  net::Network<float> network = network_of(o);
  const auto at = [&](const char* name) { return network.at(*network.find(name)); };
  if (!variant.has_hidden()) {
    at("W.weight") = to_matrix(W).cast<float>();
    if (o.bias) at("W.bias") = to_matrix(bias.unsqueeze(0)).cast<float>();
  } else {
    const net::GramSvd svd = net::gram_svd(to_matrix(W));  // W = P diag(s) Q^T, B = diag(s) Q^T
    const Index r = o.width;
    const auto s = svd.s.head(r).array();
    const Vector<double> inverse = (s > 0).select(1 / s.max(1e-300), 0);
    RowMatrix<double> U = inverse.asDiagonal() * svd.B.topRows(r);  // Q_r^T
    RowMatrix<double> V = svd.Pt.topRows(r).transpose();
    const auto root = std::sqrt(static_cast<double>(r));
    if (variant.has(LayerKind::kDiagonal)) {
      U /= root;
      V /= root;
      at("D.weight") = (static_cast<double>(r) * svd.s.head(r)).transpose().cast<float>();
    } else {
      const Vector<double> share = svd.s.head(r).cwiseSqrt();
      U = share.asDiagonal() * U;
      V = V * share.asDiagonal();
    }
    at("U.weight") = U.cast<float>();
    at("V.weight") = V.cast<float>();
    if (network.find("F.weight")) at("F.weight").setIdentity();
    if (o.bias) at("V.bias") = to_matrix(bias.unsqueeze(0)).cast<float>();
    const net::Pruning<float> sorted(network);
    if (variant.has(LayerKind::kDiagonal) && sorted.neurons() == r)
      network = sorted.keep(r, net::PruneForm::kBalanced);
  }
  auto block = std::make_shared<UDVLinearImpl>(network, o.pixels, o.stride);
  block->to(W.device(), W.scalar_type());
  return block;
}

std::shared_ptr<UDVLinearImpl> udv_from_linear(const torch::nn::Linear& linear, Index width,
                                               const std::string& variant) {
  UDVLinearOptions options;
  options.width = width;
  options.variant = variant;
  return udv_from_weights(linear->weight, linear->bias, options);
}

}  // namespace udv::deep

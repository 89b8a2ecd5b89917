// SPDX-License-Identifier: MIT
#include "udv/net/network.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"

namespace udv::net {

namespace {

// U, D, relu, V with two hidden layers is U, D, relu, U2, D2, relu, V: what stands before the last
// dense layer is repeated under numbered names.
std::vector<LayerSpec> deep_layers(const Variant& variant, const Sizes& sizes) {
  if (sizes.deeper.empty()) return variant.layers;
  const bool relu =
      variant.has(LayerKind::kRelu) && variant.layers.back().kind == LayerKind::kDense;
  require(relu, "network: ", to_string(sizes), " with ", variant.name,
          " found, a variant with ReLU expected for several hidden layers");
  std::vector<LayerSpec> layers(variant.layers.begin(), variant.layers.end() - 1);
  const std::vector<LayerSpec> hidden = layers;
  for (size_t k = 0; k < sizes.deeper.size(); ++k)
    for (LayerSpec spec : hidden) {
      if (!spec.name.empty()) spec.name += std::to_string(k + 2);
      layers.push_back(std::move(spec));
    }
  layers.push_back(variant.layers.back());
  return layers;
}

// Outputs of the dense layers in order.
std::vector<Index> dense_widths(const std::vector<LayerSpec>& layers, const Sizes& sizes) {
  const auto count = std::count_if(layers.begin(), layers.end(),
                                   [](const auto& l) { return l.kind == LayerKind::kDense; });
  std::vector<Index> widths(static_cast<size_t>(count), sizes.hidden);
  std::copy(sizes.deeper.begin(), sizes.deeper.end(),
            sizes.deeper.empty() ? widths.end() : widths.begin() + 1);
  widths.back() = sizes.outputs;
  return widths;
}

}  // namespace

template <typename Real>
Network<Real>::Network(const Variant& variant, Sizes sizes, Bias bias)
    : variant_(&variant), sizes_(std::move(sizes)), bias_(bias) {
  require(
      sizes_.inputs > 0 && sizes_.outputs > 0 && (sizes_.hidden > 0 || !variant.has_hidden()) &&
          std::all_of(sizes_.deeper.begin(), sizes_.deeper.end(), [](Index m) { return m > 0; }),
      "network: sizes ", sizes_.inputs, "-", sizes_.hidden, "-", sizes_.outputs,
      " found, at least 1 each expected");
  specs_ = deep_layers(variant, sizes_);
  const std::vector<Index> widths = dense_widths(specs_, sizes_);
  Index width = sizes_.inputs;
  size_t dense = 0;
  for (size_t l = 0; l < specs_.size(); ++l) {
    const Index outputs = specs_[l].kind == LayerKind::kDense ? widths[dense++] : width;
    add_layer(specs_[l], width, outputs, l == 0);
    width = outputs;
  }
  parameters_.setZero(offsets_.back() + layers_.back()->num_parameters());
  for (const ParameterBlock& block : blocks_)
    if (block.kind == LayerKind::kDiagonal) at(block).setOnes();
}

template <typename Real>
void Network<Real>::add_layer(const LayerSpec& spec, Index inputs, Index outputs, bool first) {
  const Index offset = layers_.empty() ? 0 : offsets_.back() + layers_.back()->num_parameters();
  const bool last = spec.name == variant_->layers.back().name;
  const Neurons neurons = first || !last ? Neurons::kRows : Neurons::kColumns;
  const bool has_bias = bias_ == Bias(Bias::kAll) || (first && bias_ == Bias(Bias::kConstant));
  switch (spec.kind) {
    case LayerKind::kDense:
      layers_.push_back(make_dense<Real>(inputs, outputs, has_bias));
      blocks_.push_back({spec.name + ".weight", spec.kind, false, outputs, inputs, offset,
                         spec.constraint, neurons});
      if (has_bias)
        blocks_.push_back({spec.name + ".bias", spec.kind, true, 1, outputs,
                           offset + outputs * inputs, Constraint::kFree, neurons,
                           bias_ == Bias(Bias::kConstant)});
      break;
    case LayerKind::kDiagonal:
      layers_.push_back(make_diagonal<Real>(inputs));
      blocks_.push_back(
          {spec.name + ".weight", spec.kind, false, 1, inputs, offset, spec.constraint, neurons});
      break;
    case LayerKind::kRelu:
      layers_.push_back(make_relu<Real>(inputs));
      break;
  }
  offsets_.push_back(offset);
}

template <typename Real>
const ParameterBlock* Network<Real>::find(std::string_view name) const {
  for (const ParameterBlock& block : blocks_)
    if (block.name == name) return &block;
  return nullptr;
}

template <typename Real>
void Network<Real>::project() {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const ParameterBlock& block = blocks_[b];
    const bool joined = b + 1 < blocks_.size() && blocks_[b + 1].joined;
    if (!joined) {
      net::project<Real>(block.constraint, block.neurons, at(block));
    } else if (block.constraint == Constraint::kNeuronBalls) {
      project_neurons<Real>(at(block), at(blocks_[b + 1]));
    } else {  // weights and bias lie one after the other
      const Index size = block.size() + blocks_[b + 1].size();
      net::project<Real>(block.constraint, block.neurons,
                         Eigen::Map<RowMatrix<Real>>(parameters_.data() + block.offset, 1, size));
    }
  }
}

template <typename Real>
typename Network<Real>::Workspace Network<Real>::workspace(Index rows) const {
  Workspace work;
  for (const auto& layer : layers_) {
    work.values.emplace_back(rows, layer->outputs());
    work.gradients.emplace_back(rows, layer->outputs());
  }
  return work;
}

template <typename Real>
Rows<Real> Network<Real>::forward(const ConstRows<Real>& X, Workspace& work) const {
  const Index n = X.rows();
  for (size_t l = 0; l < layers_.size(); ++l) {
    const ConstRows<Real> input = l == 0 ? X : ConstRows<Real>(work.values[l - 1].topRows(n));
    layers_[l]->forward(parameters_.data() + offsets_[l], input, work.values[l].topRows(n));
  }
  return work.values.back().topRows(n);
}

template <typename Real>
void Network<Real>::backward(const ConstRows<Real>& X, Workspace& work,
                             Vector<Real>& gradient) const {
  const Index n = X.rows();
  gradient.resize(num_parameters());
  RowMatrix<Real> nothing(n, 0);
  for (size_t l = layers_.size(); l-- > 0;) {
    const ConstRows<Real> input = l == 0 ? X : ConstRows<Real>(work.values[l - 1].topRows(n));
    layers_[l]->backward(parameters_.data() + offsets_[l], input, work.values[l].topRows(n),
                         work.gradients[l].topRows(n), gradient.data() + offsets_[l],
                         l == 0 ? Rows<Real>(nothing) : work.gradients[l - 1].topRows(n));
  }
}

std::string to_string(const Sizes& sizes) {
  std::string text = message(sizes.inputs, "-");
  if (sizes.hidden > 0) text += message(sizes.hidden, "-");
  for (const Index width : sizes.deeper) text += message(width, "-");
  return text + std::to_string(sizes.outputs);
}

Index default_hidden(Index inputs, Index outputs, bool classification) {
  const auto d = static_cast<double>(inputs), c = static_cast<double>(outputs);
  const double m = classification ? std::floor(2 * d / 3)
                                  : std::round(std::sqrt((c + 2) * d) + 2 * std::sqrt(d / (c + 2)));
  return std::max<Index>(1, static_cast<Index>(m));
}

template class Network<float>;
template class Network<double>;

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#include "udv/net/network.hpp"

#include <cmath>

#include "core/require.hpp"

namespace udv::net {

template <typename Real>
Network<Real>::Network(const Variant& variant, Sizes sizes, bool bias)
    : variant_(&variant), sizes_(sizes), bias_(bias) {
  require(sizes.inputs > 0 && sizes.outputs > 0 && (sizes.hidden > 0 || !variant.has_hidden()),
          "network: sizes ", sizes.inputs, "-", sizes.hidden, "-", sizes.outputs,
          " found, at least 1 each expected");
  Index remaining_dense = 0;
  for (const LayerSpec& spec : variant.layers)
    remaining_dense += spec.kind == LayerKind::kDense ? 1 : 0;
  Index width = sizes.inputs;
  for (size_t l = 0; l < variant.layers.size(); ++l) {
    const LayerSpec& spec = variant.layers[l];
    if (spec.kind == LayerKind::kDense) --remaining_dense;
    const Index outputs = spec.kind != LayerKind::kDense ? width
                          : remaining_dense > 0          ? sizes.hidden
                                                         : sizes.outputs;
    add_layer(spec, width, outputs, l == 0);
    width = outputs;
  }
  parameters_.setZero(offsets_.back() + layers_.back()->num_parameters());
  for (const ParameterBlock& block : blocks_)
    if (block.kind == LayerKind::kDiagonal) at(block).setOnes();
}

template <typename Real>
void Network<Real>::add_layer(const LayerSpec& spec, Index inputs, Index outputs, bool first) {
  const Index offset = layers_.empty() ? 0 : offsets_.back() + layers_.back()->num_parameters();
  const Neurons neurons = first ? Neurons::kRows : Neurons::kColumns;
  switch (spec.kind) {
    case LayerKind::kDense:
      layers_.push_back(make_dense<Real>(inputs, outputs, bias_));
      blocks_.push_back({spec.name + ".weight", spec.kind, false, outputs, inputs, offset,
                         spec.constraint, neurons});
      if (bias_)
        blocks_.push_back({spec.name + ".bias", spec.kind, true, 1, outputs,
                           offset + outputs * inputs, Constraint::kFree, neurons});
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
  for (const ParameterBlock& block : blocks_)
    net::project<Real>(block.constraint, block.neurons, at(block));
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
  return sizes.hidden > 0 ? message(sizes.inputs, "-", sizes.hidden, "-", sizes.outputs)
                          : message(sizes.inputs, "-", sizes.outputs);
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

// SPDX-License-Identifier: MIT
#include "udv/net/layer_pruning.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include "core/require.hpp"
#include "net/neuron_selection.hpp"
#include "net/products.hpp"
#include "net/sample_rows.hpp"

namespace udv::net {
namespace {

// One linear map with the diagonal behind it taken in: x -> A x + b.
struct Map {
  RowMatrix<double> A;
  Vector<double> b;  // may be empty
};

template <typename Real>
std::vector<Map> maps_of(const Network<Real>& network) {
  std::vector<Map> maps;
  const auto matrix = [&](const std::string& name) {
    const ParameterBlock* const block = network.find(name);
    return block ? RowMatrix<double>(network.at(*block).template cast<double>())
                 : RowMatrix<double>();
  };
  for (const LayerSpec& layer : network.layers()) {
    const RowMatrix<double> weight = matrix(layer.name + ".weight");
    if (layer.kind == LayerKind::kDense) {
      maps.push_back({weight, matrix(layer.name + ".bias").transpose().reshaped()});
    } else if (layer.kind == LayerKind::kDiagonal) {
      const Vector<double> w = weight.row(0).transpose();
      maps.back().A = w.asDiagonal() * maps.back().A;
      if (maps.back().b.size() > 0) maps.back().b = maps.back().b.cwiseProduct(w);
    }
  }
  return maps;
}

// relu(H A^T + b), n x m.
RowMatrix<double> hidden_values(const RowMatrix<double>& H, const Map& map) {
  RowMatrix<double> values(H.rows(), map.A.rows());
  multiply_transposed<double>(H, map.A, values);
  if (map.b.size() > 0) values.rowwise() += map.b.transpose();
  return values.cwiseMax(0);
}

// The fewest of the first neurons whose successors have at most this share of the energy.
Index fewest(const NeuronSelection& selection, double lost) {
  const Vector<double> energies = selection.C.rowwise().squaredNorm();
  const double limit = lost * energies.sum();
  Index r = energies.size();
  double tail = 0;
  while (r > 1 && tail + energies(r - 1) <= limit) tail += energies(--r);
  return r;
}

// Keeps the first r neurons between two maps; the second is fitted anew, its bias takes up means.
void cut(const NeuronSelection& selection, Index r, Map& before, Map& after) {
  const std::vector<Index> kept(selection.order.begin(), selection.order.begin() + r);
  before.A = RowMatrix<double>(before.A(kept, Eigen::all));
  if (before.b.size() > 0) before.b = Vector<double>(before.b(kept));
  RowMatrix<double> fitted = refitted_outputs(selection, r);
  if (after.b.size() > 0)
    after.b += after.A * selection.mean - fitted * Vector<double>(selection.mean(kept));
  after.A = std::move(fitted);
}

}  // namespace

template <typename Real>
struct LayerPruning<Real>::Parts {
  Network<Real> network;
  std::vector<Map> maps;    // the last one makes the outputs
  RowMatrix<double> X;      // n x d
  RowMatrix<double> first;  // values of the first hidden layer
  NeuronSelection start;    // of its neurons

  Network<Real> keep(const std::function<Index(const NeuronSelection&)>& count) const {
    std::vector<Map> smaller = maps;
    RowMatrix<double> H = X, values = first;
    for (size_t k = 0; k + 1 < smaller.size(); ++k) {
      if (k > 0) values = hidden_values(H, smaller[k]);
      const NeuronSelection selection =
          k == 0 ? start : select_neurons(values, smaller[k + 1].A, smaller[k + 1].b.size() > 0);
      const Index r = count(selection);
      cut(selection, r, smaller[k], smaller[k + 1]);
      const std::vector<Index> kept(selection.order.begin(), selection.order.begin() + r);
      H = RowMatrix<double>(values(Eigen::all, kept));
    }
    return packed(smaller);
  }

  Network<Real> packed(std::vector<Map> maps_kept) const {
    Sizes sizes{network.sizes().inputs, maps_kept[0].A.rows(), network.sizes().outputs, {}};
    for (size_t k = 1; k + 1 < maps_kept.size(); ++k) sizes.deeper.push_back(maps_kept[k].A.rows());
    Network<Real> result(network.variant(), sizes, network.biases());
    const bool diagonal = network.find("D.weight") != nullptr;
    Vector<double> scales = Vector<double>::Ones(static_cast<Index>(maps_kept.size()));
    for (size_t k = 0; diagonal && k < maps_kept.size(); ++k) {
      Map& map = maps_kept[k];
      const bool last = k + 1 == maps_kept.size();
      const double norm = last ? map.A.norm() : std::hypot(map.A.norm(), map.b.norm());
      if (!(norm > 0)) continue;
      map.A /= norm;
      if (!last && map.b.size() > 0) map.b /= norm;
      scales(static_cast<Index>(last ? k - 1 : k)) *= norm;  // relu(s x) = s relu(x)
    }
    size_t dense = 0;
    for (const LayerSpec& layer : result.layers()) {
      if (layer.kind == LayerKind::kRelu) continue;
      auto weight = result.at(*result.find(layer.name + ".weight"));
      if (layer.kind == LayerKind::kDiagonal) {
        weight.setConstant(static_cast<Real>(scales(static_cast<Index>(dense) - 1)));
        continue;
      }
      const Map& map = maps_kept[dense++];
      weight = map.A.template cast<Real>();
      if (const ParameterBlock* bias = result.find(layer.name + ".bias"))
        result.at(*bias) = map.b.transpose().template cast<Real>();
    }
    return result;
  }
};

template <typename Real>
LayerPruning<Real>::LayerPruning(const Network<Real>& network, const ConstRows<Real>& X) {
  require(network.variant().has(LayerKind::kRelu), "prune: a ", network.variant().name,
          " network found, one with ReLU expected for several hidden layers");
  require(X.cols() == network.sizes().inputs && X.rows() > 0, "prune: rows of ", X.cols(),
          " numbers found, at least one of ", network.sizes().inputs, " expected");
  Parts parts{network, maps_of(network), sample_rows<Real>(X).template cast<double>(), {}, {}};
  parts.first = hidden_values(parts.X, parts.maps[0]);
  parts.start = select_neurons(parts.first, parts.maps[1].A, parts.maps[1].b.size() > 0);
  parts_ = std::make_unique<const Parts>(std::move(parts));
}

template <typename Real>
LayerPruning<Real>::~LayerPruning() = default;
template <typename Real>
LayerPruning<Real>::LayerPruning(LayerPruning&&) noexcept = default;

template <typename Real>
Network<Real> LayerPruning<Real>::keep_energy(double lost) const {
  require(lost >= 0 && lost <= 1, "prune: a share of ", lost, " found, 0 to 1 expected");
  return parts_->keep([&](const NeuronSelection& s) { return fewest(s, lost); });
}

template <typename Real>
Network<Real> LayerPruning<Real>::keep_most(Index neurons) const {
  require(neurons >= 1, "prune: ", neurons, " neurons found, at least 1 expected");
  return parts_->keep(
      [&](const NeuronSelection& s) { return std::min<Index>(neurons, s.C.rows()); });
}

template <typename Real>
std::vector<Network<Real>> pruning_ladder(const Network<Real>& network,
                                          const LayerPruning<Real>& pruning) {
  constexpr int kDecades = 7, kSteps = 4;
  std::vector<Network<Real>> ladder;
  for (int i = 0; i <= kDecades * kSteps; ++i) {
    Network<Real> next = pruning.keep_energy(std::pow(10.0, -static_cast<double>(i) / kSteps));
    const Index least = ladder.empty() ? 0 : ladder.back().num_parameters();
    if (next.num_parameters() <= least || next.num_parameters() >= network.num_parameters())
      continue;
    ladder.push_back(std::move(next));
  }
  ladder.push_back(network);
  return ladder;
}

Index hidden_neurons(const Sizes& sizes) {
  return std::accumulate(sizes.deeper.begin(), sizes.deeper.end(), sizes.hidden);
}

#define UDV_INSTANTIATE(Real)                                              \
  template class LayerPruning<Real>;                                       \
  template std::vector<Network<Real>> pruning_ladder(const Network<Real>&, \
                                                     const LayerPruning<Real>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#include "net/shrink.hpp"

#include <algorithm>

#include "net/gram_svd.hpp"
#include "net/head_arrays.hpp"
#include "net/products.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

// Network and state with the hidden width of the new arrays.
template <typename Real>
void replace(const HeadArrays& weights, const std::vector<HeadArrays>& moments,
             Network<Real>& network, OptimizerState<Real>& state) {
  const Sizes sizes{network.sizes().inputs, weights.U.rows(), network.sizes().outputs};
  Network<Real> smaller(network.variant(), sizes, network.biases());
  pack(weights, smaller, smaller.parameters());
  for (size_t k = 0; k < moments.size(); ++k) pack(moments[k], smaller, state.moments[k]);
  network = std::move(smaller);
}

template <typename Real>
std::vector<HeadArrays> unpack_moments(const Network<Real>& network,
                                       const OptimizerState<Real>& state) {
  std::vector<HeadArrays> moments;
  for (const auto& moment : state.moments) moments.push_back(unpack(network, moment));
  return moments;
}

// The maps from the old arrays to the new ones.
struct Refactoring {
  RowMatrix<double> P;     // m x r
  Vector<double> s, n;     // r
  Vector<double> a, b, w;  // r
  RowMatrix<double> U, V;  // the new weights
};

// Gradients: G_U' = diag(w' b / n) P^T diag(1 / w) G_U, G_V' = G_V P diag(w' a / s),
// G_w'_j = <u'_j, G_U'_j> / w'_j. Second moments by the squares of these numbers.
HeadArrays map_moment(const HeadArrays& moment, const Vector<double>& old_w, const Refactoring& map,
                      bool squared) {
  const auto power = [&](double x) { return squared ? x * x : x; };
  const Vector<double> inverse_w = old_w.unaryExpr([](double w) { return w != 0 ? 1 / w : 0.0; });
  RowMatrix<double> into_u = (map.w.cwiseProduct(map.b).cwiseQuotient(map.n)).asDiagonal() *
                             map.P.transpose() * inverse_w.asDiagonal();
  RowMatrix<double> into_v = map.P * (map.w.cwiseProduct(map.a).cwiseQuotient(map.s)).asDiagonal();
  RowMatrix<double> along_u = map.w.cwiseInverse().asDiagonal() * map.U;
  for (RowMatrix<double>* matrix : {&into_u, &into_v, &along_u}) *matrix = matrix->unaryExpr(power);
  HeadArrays result;
  result.U = product(into_u, moment.U);
  result.V = product(moment.V, into_v);
  result.bias = moment.bias;
  if (moment.w.size() > 0) result.w = along_u.cwiseProduct(result.U).rowwise().sum();
  return result;
}

}  // namespace

template <typename Real>
bool remove_inert(Network<Real>& network, OptimizerState<Real>& state) {
  const bool one_hidden_layer = network.variant().has_hidden() && network.sizes().deeper.empty();
  if (!one_hidden_layer || network.find("F.weight")) return false;
  const HeadArrays head = unpack(network, network.parameters());
  const std::vector<HeadArrays> moments = unpack_moments(network, state);
  const auto asleep = [&](const auto& part) {
    return part(head).isZero(0) && std::all_of(moments.begin(), moments.end(),
                                               [&](const auto& m) { return part(m).isZero(0); });
  };
  std::vector<Index> kept;
  for (Index j = 0; j < head.U.rows(); ++j) {
    int zero = 0;
    zero += asleep([j](const HeadArrays& h) { return h.U.row(j); }) ? 1 : 0;
    zero += asleep([j](const HeadArrays& h) { return h.V.col(j); }) ? 1 : 0;
    if (head.w.size() > 0)
      zero += asleep([j](const HeadArrays& h) { return h.w.segment(j, 1); }) ? 1 : 0;
    if (zero < 2) kept.push_back(j);
  }
  if (kept.empty() || static_cast<Index>(kept.size()) == head.U.rows()) return false;
  std::vector<HeadArrays> kept_moments;
  for (const auto& moment : moments) kept_moments.push_back(keep_neurons(moment, kept));
  replace(keep_neurons(head, kept), kept_moments, network, state);
  return true;
}

template <typename Real>
bool shrink_head(Network<Real>& network, OptimizerState<Real>& state, double tail) {
  const Variant& variant = network.variant();
  if (!variant.has_hidden() || variant.has(LayerKind::kRelu) || network.find("F.weight"))
    return false;
  const HeadArrays head = unpack(network, network.parameters());
  const bool diagonal = head.w.size() > 0;
  const Vector<double> w = diagonal ? head.w : Vector<double>::Ones(head.U.rows());
  if (!head.U.allFinite() || !w.allFinite() || !head.V.allFinite()) return false;
  const GramSvd svd = gram_svd(w.asDiagonal() * head.U);
  const Index m = head.U.rows();
  const Index r = std::max<Index>(1, energy_rank(svd.s, 1 - tail));
  if (r > m - std::max<Index>(1, m / 16)) return false;

  Refactoring map;
  map.P = svd.Pt.topRows(r).transpose();
  map.s = svd.s.head(r);
  const RowMatrix<double> directions = product(head.V, map.P);
  map.n = directions.colwise().norm().cwiseMax(1e-300).transpose();
  const Vector<double> sizes = map.s.cwiseProduct(map.n);
  if (!(sizes.minCoeff() > 0)) return false;
  const Index inputs = network.sizes().inputs;
  const Shares shares = share_sizes(sizes, network.find("U.weight")->constraint, head.w,
                                    head.U.leftCols(inputs).norm(), head.V.norm());
  map.a = shares.a;
  map.b = shares.b;
  map.w = sizes.cwiseQuotient(map.a.cwiseProduct(map.b));
  map.U = map.a.cwiseQuotient(map.s).asDiagonal() * svd.B.topRows(r);
  map.V = directions * map.b.cwiseQuotient(map.n).asDiagonal();

  HeadArrays smaller{map.U, diagonal ? map.w : Vector<double>(), map.V, head.bias};
  std::vector<HeadArrays> moments;
  for (const HeadArrays& moment : unpack_moments(network, state))
    moments.push_back(map_moment(moment, w, map, moments.size() == 1));
  replace(smaller, moments, network, state);
  network.project();
  return true;
}

#define UDV_INSTANTIATE(Real)                                              \
  template bool remove_inert<Real>(Network<Real>&, OptimizerState<Real>&); \
  template bool shrink_head<Real>(Network<Real>&, OptimizerState<Real>&, double);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

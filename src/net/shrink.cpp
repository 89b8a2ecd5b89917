// SPDX-License-Identifier: MIT
#include "net/shrink.hpp"

#include <Eigen/SVD>
#include <cmath>

#include "udv/core/columns.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

// The arrays of a head in a vector that lies like its parameters.
struct HeadArrays {
  RowMatrix<double> U;  // m x (d + 1 with a bias): the bias is the weight of an input that is 1
  Vector<double> w;     // m; empty where there is no diagonal layer
  RowMatrix<double> V;  // c x m
  Vector<double> bias;  // of V; may be empty
};

template <typename Real>
HeadArrays unpack(const Network<Real>& shape, const Vector<Real>& values) {
  const auto at = [&](const Block& block) {
    return Eigen::Map<const RowMatrix<Real>>(values.data() + block.offset, block.rows, block.cols)
        .template cast<double>();
  };
  HeadArrays head;
  const Block& U = *shape.find("U.weight");
  head.U.resize(U.rows, U.cols + (shape.bias() ? 1 : 0));
  head.U.leftCols(U.cols) = at(U);
  if (shape.bias()) head.U.rightCols(1) = at(*shape.find("U.bias")).transpose();
  if (const Block* D = shape.find("D.weight")) head.w = at(*D).row(0).transpose();
  head.V = at(*shape.find("V.weight"));
  if (shape.bias()) head.bias = at(*shape.find("V.bias")).row(0).transpose();
  return head;
}

template <typename Real>
void pack(const HeadArrays& head, const Network<Real>& shape, Vector<Real>& values) {
  values.setZero(shape.num_parameters());
  const auto at = [&](const Block& block) {
    return Eigen::Map<RowMatrix<Real>>(values.data() + block.offset, block.rows, block.cols);
  };
  const Block& U = *shape.find("U.weight");
  at(U) = head.U.leftCols(U.cols).template cast<Real>();
  if (shape.bias())
    at(*shape.find("U.bias")) = head.U.rightCols(1).transpose().template cast<Real>();
  if (const Block* D = shape.find("D.weight")) at(*D) = head.w.transpose().template cast<Real>();
  at(*shape.find("V.weight")) = head.V.template cast<Real>();
  if (shape.bias()) at(*shape.find("V.bias")) = head.bias.transpose().template cast<Real>();
}

template <typename Dense>
double root_mean_square(const Dense& values) {
  return values.size() > 0 ? values.norm() / std::sqrt(static_cast<double>(values.size())) : 1;
}

// Network and state with the hidden width of the new arrays.
template <typename Real>
void replace(const HeadArrays& weights, const std::vector<HeadArrays>& moments,
             Network<Real>& network, OptimizerState<Real>& state) {
  const Sizes sizes{network.sizes().inputs, weights.U.rows(), network.sizes().outputs};
  Network<Real> smaller(network.variant(), sizes, network.bias());
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

HeadArrays keep_neurons(const HeadArrays& head, const std::vector<Index>& kept) {
  HeadArrays part = head;
  part.U = head.U(kept, Eigen::all);
  part.V = head.V(Eigen::all, kept);
  if (head.w.size() > 0) part.w = head.w(kept);
  return part;
}

// How the size s_j of neuron j is shared: a_j for U, b_j for V, and s_j / (a_j b_j) for w.
struct Shares {
  Vector<double> a, b;
};

// The diagonal is made of equal numbers, as it starts, so that all directions go on growing alike.
Shares share_sizes(const Vector<double>& s, Constraint constraint, const Vector<double>& old_w,
                   double norm_u, double norm_v) {
  const Vector<double> t = s.cwiseSqrt();
  if (old_w.size() == 0) return {t, t};
  if (constraint == Constraint::kBall) return {norm_u / t.norm() * t, norm_v / t.norm() * t};
  const Vector<double> even = t / std::sqrt(root_mean_square(old_w));
  if (constraint == Constraint::kNeuronBalls) return {even.cwiseMin(1), even.cwiseMin(1)};
  return {even, even};
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
  result.U = into_u * moment.U;
  result.V = moment.V * into_v;
  result.bias = moment.bias;
  if (moment.w.size() > 0) result.w = along_u.cwiseProduct(result.U).rowwise().sum();
  return result;
}

}  // namespace

template <typename Real>
bool remove_inert(Network<Real>& network, OptimizerState<Real>& state) {
  if (!network.variant().has_hidden() || network.find("F.weight")) return false;
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
  const Eigen::BDCSVD<Matrix<double>> svd(w.asDiagonal() * head.U,
                                          Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Index m = head.U.rows();
  const Index r = std::max<Index>(1, energy_rank(svd.singularValues(), 1 - tail));
  if (!svd.singularValues().allFinite() || r > m - std::max<Index>(1, m / 16)) return false;

  Refactoring map;
  map.P = svd.matrixU().leftCols(r);
  map.s = svd.singularValues().head(r);
  const RowMatrix<double> directions = head.V * map.P;
  map.n = directions.colwise().norm().cwiseMax(1e-300).transpose();
  const Vector<double> sizes = map.s.cwiseProduct(map.n);
  if (!(sizes.minCoeff() > 0)) return false;
  const Index inputs = network.sizes().inputs;
  const Shares shares = share_sizes(sizes, network.find("U.weight")->constraint, head.w,
                                    head.U.leftCols(inputs).norm(), head.V.norm());
  map.a = shares.a;
  map.b = shares.b;
  map.w = sizes.cwiseQuotient(map.a.cwiseProduct(map.b));
  map.U = map.a.asDiagonal() * svd.matrixV().leftCols(r).transpose();
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

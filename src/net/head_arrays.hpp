// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "udv/net/network.hpp"

namespace udv::net {

/// The arrays of a head in a vector that lies like its parameters; a middle layer F is left aside.
struct HeadArrays {
  RowMatrix<double> U;  ///< m x (d + 1 with a bias): the bias is the weight of an input that is 1
  Vector<double> w;     ///< m; empty where there is no diagonal layer
  RowMatrix<double> V;  ///< c x m
  Vector<double> bias;  ///< of V; may be empty
};

template <typename Real>
HeadArrays unpack(const Network<Real>& shape, const Vector<Real>& values) {
  const auto at = [&](const ParameterBlock& block) {
    return Eigen::Map<const RowMatrix<Real>>(values.data() + block.offset, block.rows, block.cols)
        .template cast<double>();
  };
  HeadArrays head;
  const ParameterBlock& U = *shape.find("U.weight");
  head.U.resize(U.rows, U.cols + (shape.find("U.bias") ? 1 : 0));
  head.U.leftCols(U.cols) = at(U);
  if (shape.find("U.bias")) head.U.rightCols(1) = at(*shape.find("U.bias")).transpose();
  if (const ParameterBlock* D = shape.find("D.weight")) head.w = at(*D).row(0).transpose();
  head.V = at(*shape.find("V.weight"));
  if (shape.find("V.bias")) head.bias = at(*shape.find("V.bias")).row(0).transpose();
  return head;
}

template <typename Real>
void pack(const HeadArrays& head, const Network<Real>& shape, Vector<Real>& values) {
  values.setZero(shape.num_parameters());
  const auto at = [&](const ParameterBlock& block) {
    return Eigen::Map<RowMatrix<Real>>(values.data() + block.offset, block.rows, block.cols);
  };
  const ParameterBlock& U = *shape.find("U.weight");
  at(U) = head.U.leftCols(U.cols).template cast<Real>();
  if (shape.find("U.bias"))
    at(*shape.find("U.bias")) = head.U.rightCols(1).transpose().template cast<Real>();
  if (const ParameterBlock* D = shape.find("D.weight"))
    at(*D) = head.w.transpose().template cast<Real>();
  at(*shape.find("V.weight")) = head.V.template cast<Real>();
  if (shape.find("V.bias")) at(*shape.find("V.bias")) = head.bias.transpose().template cast<Real>();
}

template <typename Dense>
double root_mean_square(const Dense& values) {
  return values.size() > 0 ? values.norm() / std::sqrt(static_cast<double>(values.size())) : 1;
}

inline HeadArrays keep_neurons(const HeadArrays& head, const std::vector<Index>& kept) {
  HeadArrays part = head;
  part.U = head.U(kept, Eigen::all);
  part.V = head.V(Eigen::all, kept);
  if (head.w.size() > 0) part.w = head.w(kept);
  return part;
}

/// How the size s_j of neuron j is shared: a_j for U, b_j for V, and s_j / (a_j b_j) for w.
struct Shares {
  Vector<double> a, b;
};

/// The diagonal is made of equal numbers, as it starts, so that all directions go on growing alike.
inline Shares share_sizes(const Vector<double>& s, Constraint constraint,
                          const Vector<double>& old_w, double norm_u, double norm_v) {
  const Vector<double> t = s.cwiseSqrt();
  if (old_w.size() == 0) return {t, t};
  if (constraint == Constraint::kBall) return {norm_u / t.norm() * t, norm_v / t.norm() * t};
  const Vector<double> even = t / std::sqrt(root_mean_square(old_w));
  if (constraint == Constraint::kNeuronBalls) return {even.cwiseMin(1), even.cwiseMin(1)};
  return {even, even};
}

}  // namespace udv::net

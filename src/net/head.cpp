// SPDX-License-Identifier: MIT
#include "udv/net/head.hpp"

#include <cmath>

#include "core/lapack.hpp"
#include "net/gram_svd.hpp"
#include "net/products.hpp"

namespace udv::net {

template <typename Real>
RowMatrix<double> representation(const Network<Real>& network) {
  const auto matrix = [&](const ParameterBlock* block) {
    return RowMatrix<double>(network.at(*block).template cast<double>());
  };
  RowMatrix<double> M = matrix(&network.blocks().front());
  if (const ParameterBlock* D = network.find("D.weight"))
    M = matrix(D).row(0).transpose().asDiagonal() * M;
  if (const ParameterBlock* F = network.find("F.weight")) M = product(matrix(F), M);
  return M;
}

template <typename Real>
Vector<double> quick_spectrum(const Network<Real>& network) {
  const RowMatrix<double> M = representation(network);
  if (!M.allFinite()) return Vector<double>::Zero(std::min(M.rows(), M.cols()));
  return gram_singular_values(M);
}

Vector<double> singular_values(const RowMatrix<double>& M) {
  if (std::min(M.rows(), M.cols()) > kGramWidth) return gram_singular_values(M);
  return lapack::singular_values(M);
}

template <typename Real>
Vector<double> spectrum(const Network<Real>& network) {
  const RowMatrix<double> M = representation(network);
  if (!M.allFinite()) return Vector<double>::Zero(std::min(M.rows(), M.cols()));
  return singular_values(M);
}

double stable_rank(const Vector<double>& spectrum) {
  const double largest = spectrum.size() > 0 ? spectrum(0) : 0;
  return largest > 0 ? (spectrum / largest).squaredNorm() : 0;
}

Index energy_rank(const Vector<double>& spectrum, double share) {
  const double wanted = share * spectrum.squaredNorm();
  double kept = 0;
  Index rank = 0;
  for (; rank < spectrum.size() && kept < wanted; ++rank) kept += spectrum(rank) * spectrum(rank);
  return rank;
}

double effective_rank(const Vector<double>& spectrum) {
  const double total = spectrum.sum();
  if (!(total > 0)) return 0;
  double entropy = 0;
  for (const double sigma : spectrum)
    if (sigma > 0) entropy -= sigma / total * std::log(sigma / total);
  return std::exp(entropy);
}

namespace {

// The layer that takes what the first hidden one gives: V, or U2 where there are several.
template <typename Real>
const ParameterBlock& layer_after_first(const Network<Real>& network) {
  return *network.find(network.sizes().deeper.empty() ? "V.weight" : "U2.weight");
}

}  // namespace

template <typename Real>
Index live_width(const Network<Real>& network) {
  const auto& blocks = network.blocks();
  const auto first = network.at(blocks.front());
  if (!network.variant().has_hidden()) return first.rows();
  const auto next = network.at(layer_after_first(network));
  const ParameterBlock* const D = network.find("D.weight");
  const ParameterBlock* const bias = network.find("U.bias");
  Index live = 0;
  for (Index j = 0; j < first.rows(); ++j) {
    const bool in = !first.row(j).isZero(0) || (bias && network.at(*bias)(0, j) != 0);
    const bool through = !D || network.at(*D)(0, j) != 0;
    live += in && through && !next.col(j).isZero(0) ? 1 : 0;
  }
  return live;
}

#define UDV_INSTANTIATE(Real)                                      \
  template RowMatrix<double> representation(const Network<Real>&); \
  template Vector<double> spectrum(const Network<Real>&);          \
  template Vector<double> quick_spectrum(const Network<Real>&);    \
  template Index live_width(const Network<Real>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

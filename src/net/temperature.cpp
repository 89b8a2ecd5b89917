// SPDX-License-Identifier: MIT
#include "net/temperature.hpp"

#include <cmath>

namespace udv::net {
namespace {

constexpr double kLargest = 20;  // of T and 1 / T
constexpr int kSearchSteps = 60;

// Sum over the rows of log sum exp(a P_i) - a <t_i, P_i>: convex in a = 1 / T.
double spread_entropy(const RowMatrix<double>& P, const std::vector<std::int32_t>& labels,
                      double share, double a) {
  double sum = 0;
  for (Index i = 0; i < P.rows(); ++i) {
    const double largest = P.row(i).maxCoeff();
    const double total = (a * (P.row(i).array() - largest)).exp().sum();
    const double target =
        (1 - share) * P(i, labels[static_cast<size_t>(i)]) + share * P.row(i).mean();
    sum += std::log(total) + a * (largest - target);
  }
  return sum;
}

}  // namespace

template <typename Real>
double fit_temperature(const RowMatrix<Real>& outputs, const std::vector<std::int32_t>& labels) {
  if (outputs.rows() == 0) return 1;
  const RowMatrix<double> P = outputs.template cast<double>();
  const double share = 1 / (static_cast<double>(P.rows()) + 2);
  // Golden sections of log a.
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = -std::log(kLargest), high = std::log(kLargest);
  for (int step = 0; step < kSearchSteps; ++step) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    if (spread_entropy(P, labels, share, std::exp(left)) <
        spread_entropy(P, labels, share, std::exp(right)))
      high = right;
    else
      low = left;
  }
  return std::exp(-(low + high) / 2);
}

template <typename Real>
void apply_temperature(Network<Real>& network, double temperature) {
  const ParameterBlock* diagonal = nullptr;
  for (const ParameterBlock& block : network.blocks())
    if (block.kind == LayerKind::kDiagonal) diagonal = &block;
  const bool last_bias = network.bias();
  const std::string last = network.layers().back().name;
  const auto factor = static_cast<Real>(1 / temperature);
  if (diagonal != nullptr)
    network.at(*diagonal) *= factor;
  else
    network.at(*network.find(last + ".weight")) *= factor;
  const ParameterBlock* const bias = network.find(last + ".bias");
  if (bias != nullptr && (last_bias || diagonal == nullptr)) network.at(*bias) *= factor;
}

#define UDV_INSTANTIATE(Real)                                                                \
  template double fit_temperature(const RowMatrix<Real>&, const std::vector<std::int32_t>&); \
  template void apply_temperature(Network<Real>&, double);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

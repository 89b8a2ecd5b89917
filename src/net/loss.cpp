// SPDX-License-Identifier: MIT
#include "udv/net/loss.hpp"

#include <algorithm>
#include <cmath>

namespace udv::net {

template <typename Real>
double mean_squared_error(const ConstRows<Real>& P, const ConstRows<Real>& Y, Rows<Real> dP) {
  const auto count = static_cast<double>(P.size());
  dP = P - Y;
  const double sum = static_cast<double>(dP.squaredNorm());
  dP *= static_cast<Real>(2 / count);
  return sum / count;
}

template <typename Real>
double cross_entropy(const ConstRows<Real>& P, const std::int32_t* labels, Rows<Real> dP) {
  const auto n = static_cast<double>(P.rows());
  double sum = 0;
  for (Index i = 0; i < P.rows(); ++i) {
    const Real largest = P.row(i).maxCoeff();
    auto row = dP.row(i).array();
    row = (P.row(i).array() - largest).exp();
    const Real total = row.sum();
    sum += std::log(static_cast<double>(total)) - static_cast<double>(P(i, labels[i]) - largest);
    row *= static_cast<Real>(1 / (n * static_cast<double>(total)));
    dP(i, labels[i]) -= static_cast<Real>(1 / n);
  }
  return sum / n;
}

namespace {

// Mean over the rows of a_i (log sum exp(P_i) - sum_k t_ik P_ik), t_i = (1 - s) onehot + s / c, and
// its gradient a_i (softmax(P_i) - t_i) / n in dP.
template <typename Real>
double smoothed_cross_entropy(const ConstRows<Real>& P, const std::int32_t* labels, Rows<Real> dP,
                              const LossSettings& settings) {
  const auto n = static_cast<double>(P.rows()), c = static_cast<double>(P.cols());
  const double s = settings.smoothing;
  double sum = 0;
  for (Index i = 0; i < P.rows(); ++i) {
    const auto label = static_cast<size_t>(labels[i]);
    const double weight = settings.class_weights.empty() ? 1 : settings.class_weights[label];
    const Real largest = P.row(i).maxCoeff();
    auto row = dP.row(i).array();
    row = (P.row(i).array() - largest).exp();
    const auto total = static_cast<double>(row.sum());
    const double own = static_cast<double>(P(i, labels[i]) - largest);
    const double mean = static_cast<double>(P.row(i).mean()) - static_cast<double>(largest);
    sum += weight * (std::log(total) - (1 - s) * own - s * mean);
    row = row * static_cast<Real>(weight / (n * total)) - static_cast<Real>(weight * s / (n * c));
    dP(i, labels[i]) -= static_cast<Real>(weight * (1 - s) / n);
  }
  return sum / n;
}

}  // namespace

std::vector<double> balanced_weights(const std::vector<std::int32_t>& labels, Index classes) {
  std::vector<double> counts(static_cast<size_t>(classes), 0);
  for (const std::int32_t label : labels) ++counts[static_cast<size_t>(label)];
  const auto present = std::count_if(counts.begin(), counts.end(), [](double k) { return k > 0; });
  const double share = static_cast<double>(labels.size()) / static_cast<double>(present);
  for (double& count : counts) count = count > 0 ? share / count : 1;
  return counts;
}

template <typename Real>
double loss(const ConstRows<Real>& P, const Dataset<Real>& data, Rows<Real> dP,
            const LossSettings& settings) {
  if (data.task == Task::kRegression)
    return mean_squared_error<Real>(P, data.Y.topRows(P.rows()), dP);
  if (settings.plain()) return cross_entropy<Real>(P, data.labels.data(), dP);
  return smoothed_cross_entropy<Real>(P, data.labels.data(), dP, settings);
}

template <typename Real>
Index num_correct(const ConstRows<Real>& P, const std::int32_t* labels) {
  Index correct = 0;
  for (Index i = 0; i < P.rows(); ++i) {
    Index best = 0;
    P.row(i).maxCoeff(&best);
    correct += best == labels[i] ? 1 : 0;
  }
  return correct;
}

#define UDV_INSTANTIATE(Real)                                                                   \
  template double mean_squared_error<Real>(const ConstRows<Real>&, const ConstRows<Real>&,      \
                                           Rows<Real>);                                         \
  template double cross_entropy<Real>(const ConstRows<Real>&, const std::int32_t*, Rows<Real>); \
  template double loss<Real>(const ConstRows<Real>&, const Dataset<Real>&, Rows<Real>,          \
                             const LossSettings&);                                              \
  template Index num_correct<Real>(const ConstRows<Real>&, const std::int32_t*);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

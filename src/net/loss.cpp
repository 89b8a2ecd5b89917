// SPDX-License-Identifier: MIT
#include "udv/net/loss.hpp"

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

template <typename Real>
double loss(const ConstRows<Real>& P, const Dataset<Real>& data, Rows<Real> dP) {
  return data.task == Task::kRegression ? mean_squared_error<Real>(P, data.Y.topRows(P.rows()), dP)
                                        : cross_entropy<Real>(P, data.labels.data(), dP);
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
  template double loss<Real>(const ConstRows<Real>&, const Dataset<Real>&, Rows<Real>);         \
  template Index num_correct<Real>(const ConstRows<Real>&, const std::int32_t*);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net

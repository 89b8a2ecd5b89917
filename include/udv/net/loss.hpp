// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/net/dataset.hpp"

namespace udv::net {

/// Mean over the n c numbers of (P - Y)^2, and its gradient 2 (P - Y) / (n c) in dP.
template <typename Real>
UDV_EXPORT double mean_squared_error(const ConstRows<Real>& P, const ConstRows<Real>& Y,
                                     Rows<Real> dP);

/// Mean over the rows of -log softmax(P)_label, and its gradient (softmax(P) - onehot) / n in dP.
/// The largest entry of a row is subtracted first: no overflow, whatever P is.
template <typename Real>
UDV_EXPORT double cross_entropy(const ConstRows<Real>& P, const std::int32_t* labels,
                                Rows<Real> dP);

/// What training adds to the plain cross-entropy.
struct LossSettings {
  double smoothing = 0;               ///< s: targets are (1 - s) onehot + s / c
  std::vector<double> class_weights;  ///< of the rows of each class; empty: all 1

  bool plain() const { return smoothing == 0 && class_weights.empty(); }
};

/// n / (c n_k) for every class k with n_k > 0 of the n labels, 1 where there is none: the mean over
/// the rows is 1 and all classes weigh the same.
UDV_EXPORT std::vector<double> balanced_weights(const std::vector<std::int32_t>& labels,
                                                Index classes);

/// The loss of the first n rows of the data for the outputs P, n x c: one of the two above, the
/// second with smoothed targets and weighted rows where the settings say so.
template <typename Real>
UDV_EXPORT double loss(const ConstRows<Real>& P, const Dataset<Real>& data, Rows<Real> dP,
                       const LossSettings& settings = {});

/// Rows whose largest output is that of their label; the first of equal ones counts.
template <typename Real>
UDV_EXPORT Index num_correct(const ConstRows<Real>& P, const std::int32_t* labels);

}  // namespace udv::net

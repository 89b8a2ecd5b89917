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

/// The loss of the first n rows of the data for the outputs P, n x c: one of the two above.
template <typename Real>
UDV_EXPORT double loss(const ConstRows<Real>& P, const Dataset<Real>& data, Rows<Real> dP);

/// Rows whose largest output is that of their label; the first of equal ones counts.
template <typename Real>
UDV_EXPORT Index num_correct(const ConstRows<Real>& P, const std::int32_t* labels);

}  // namespace udv::net

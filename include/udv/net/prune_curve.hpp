// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/prune.hpp"

namespace udv::net {

/// What a head is worth with so many neurons.
struct CurvePoint {
  Index neurons = 0;
  double loss = 0, accuracy = 0;
  double relative_change = 0;  ///< against all neurons, positive where worse: of the accuracy for
                               ///< classes, of the error otherwise
};

/// What predicted values are worth, rows x outputs; the smaller the better.
using ValuesError = std::function<double(const RowMatrix<double>& outputs)>;

/// One point for each number of neurons, 0 to all of them. `error` is for values; empty: the loss.
template <typename Real>
UDV_EXPORT std::vector<CurvePoint> prune_curve(const Pruning<Real>& pruning,
                                               const Dataset<Real>& data,
                                               const ValuesError& error = {});

/// The smallest number of neurons, at least 1, from which on the relative change stays within
/// `limit`: what comes above it is never worse.
UDV_EXPORT Index smallest_within(const std::vector<CurvePoint>& curve, double limit);

}  // namespace udv::net

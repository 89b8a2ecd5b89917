// SPDX-License-Identifier: MIT
#pragma once

#include "udv/net/dataset.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// The T for which softmax(outputs / T) gives the labels the smallest cross-entropy; smoothed
/// labels make outputs that are too small or too large. One of n + 2 rows counts as spread over all
/// classes, so that few rows without a mistake do not lead to T = 0. 1 where there are no rows.
template <typename Real>
double fit_temperature(const RowMatrix<Real>& outputs, const std::vector<std::int32_t>& labels);

/// Divides the outputs of a network by T without leaving its constraint sets: the last diagonal is
/// divided, or the last layer where there is none.
template <typename Real>
void apply_temperature(Network<Real>& network, double temperature);

}  // namespace udv::net

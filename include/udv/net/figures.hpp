// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// What the spectrum and the size of a network are.
struct TrainFigures {
  Vector<double> spectrum;  ///< of UD
  double stable_rank = 0, effective_rank = 0;
  Index rank_90 = 0, rank_99 = 0, rank_999 = 0;  ///< singular values that carry so much energy
  Index live_width = 0, parameters = 0;
};
template <typename Real>
UDV_EXPORT TrainFigures figures_of(const Network<Real>& network);

}  // namespace udv::net

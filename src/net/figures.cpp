// SPDX-License-Identifier: MIT
#include "udv/net/figures.hpp"

#include "udv/net/head.hpp"

namespace udv::net {

template <typename Real>
TrainFigures figures_of(const Network<Real>& network) {
  TrainFigures figures;
  figures.spectrum = spectrum(network);
  figures.stable_rank = stable_rank(figures.spectrum);
  figures.effective_rank = effective_rank(figures.spectrum);
  figures.rank_90 = energy_rank(figures.spectrum, 0.9);
  figures.rank_99 = energy_rank(figures.spectrum, 0.99);
  figures.rank_999 = energy_rank(figures.spectrum, 0.999);
  figures.live_width = live_width(network);
  figures.parameters = network.num_parameters();
  return figures;
}

template TrainFigures figures_of(const Network<float>&);
template TrainFigures figures_of(const Network<double>&);

}  // namespace udv::net

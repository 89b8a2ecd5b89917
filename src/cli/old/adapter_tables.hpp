// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "udv/net/adapter.hpp"

namespace udv::cli {

/// What ranks look like from afar.
struct RankFigures {
  Index blocks = 0;  ///< of rank 1 at least
  Index least = 0, most = 0;
  double mean = 0;
};
RankFigures figures_of(const net::AdapterPruning::Ranks& ranks);

/// "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max" for a grid of energies; one
/// more column, "perplexity", where somebody tells what the pruned adapter is worth.
using AdapterWorth = std::function<double(const net::AdapterPruning::Ranks&)>;
std::string pruning_csv(const net::AdapterPruning& pruning, const AdapterWorth& perplexity = {});

/// "block,rank_before,rank_after,energy_kept".
std::string ranks_csv(const net::Adapter& before, const net::AdapterPruning& pruning,
                      const net::AdapterPruning::Ranks& ranks);

}  // namespace udv::cli

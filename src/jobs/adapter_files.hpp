// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "udv/net/adapter.hpp"
#include "udv/net/adapter_file.hpp"

namespace udv::jobs {

/// The ranks of all blocks of an adapter in a few numbers.
struct RankFigures {
  Index blocks = 0;  ///< of rank 1 at least
  Index least = 0, most = 0;
  double mean = 0;
};
RankFigures figures_of(const net::AdapterPruning::Ranks& ranks);

/// Measures the perplexity of an adapter that is pruned to these ranks.
using PerplexityOfRanks = std::function<double(const net::AdapterPruning::Ranks&)>;

/// "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max" for a grid of energies; one
/// more column, "perplexity", where it is measured.
std::string pruning_csv(const net::AdapterPruning& pruning, const PerplexityOfRanks& perplexity = {});

/// "block,rank_before,rank_after,energy_kept".
std::string ranks_csv(const net::Adapter& before, const net::AdapterPruning& pruning,
                      const net::AdapterPruning::Ranks& ranks);

/// Writes an adapter into a folder: model.safetensors, or the two files of PEFT. `compact`: PEFT
/// with the own rank of every block instead of zeros. Throws IoError where a factor is not finite.
void write_adapter_files(const std::filesystem::path& folder, const net::Adapter& adapter,
                         net::AdapterKind kind, bool compact);

}  // namespace udv::jobs

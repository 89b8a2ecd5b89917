// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "udv/core/export.hpp"
#include "udv/net/adapter.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {

using net::figures_of;
using net::RankFigures;

/// Measures the perplexity of an adapter that is pruned to these ranks.
using PerplexityOfRanks = std::function<double(const net::AdapterPruning::Ranks&)>;

/// "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max" for a grid of energies; one
/// more column, "perplexity", where it is measured.
UDV_EXPORT std::string pruning_csv(const net::AdapterPruning& pruning,
                                   const PerplexityOfRanks& perplexity = {});

/// "block,rank_before,rank_after,energy_kept".
UDV_EXPORT std::string ranks_csv(const net::Adapter& before, const net::AdapterPruning& pruning,
                                 const net::AdapterPruning::Ranks& ranks);

/// Throws IoError that starts with `name` where an adapter cannot be written: a factor is not
/// finite, or all blocks have rank 0, which PEFT does not know.
UDV_EXPORT void check_adapter_files(const std::string& name, const net::Adapter& adapter,
                                    net::AdapterKind kind);

/// Writes an adapter into a folder: model.safetensors, or the two files of PEFT. `compact`: PEFT
/// with the own rank of every block instead of zeros.
UDV_EXPORT void write_adapter_files(const std::filesystem::path& folder,
                                    const net::Adapter& adapter, net::AdapterKind kind,
                                    bool compact);

}  // namespace udv::jobs

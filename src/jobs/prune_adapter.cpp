// SPDX-License-Identifier: MIT
#include "jobs/prune_adapter.hpp"

#include <algorithm>

#include "jobs/adapter_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using Ranks = net::AdapterPruning::Ranks;

Ranks chosen_ranks(const PruneOptions& options, const net::AdapterPruning& pruning) {
  if (options.budget.rank > 0) return pruning.ranks_at_most(options.budget.rank);
  return options.ratio > 0 ? pruning.ranks_of_ratio(options.ratio)
                           : pruning.ranks_of_energy(options.budget.energy);
}

// The least share that a block has kept; 0 where a block is gone.
double least_energy(const net::AdapterPruning& pruning, const Ranks& ranks) {
  double least = 1;
  for (std::size_t b = 0; b < ranks.size(); ++b)
    least = std::min(least, pruning.energy_kept(b, ranks[b]));
  return least;
}

Json ranks_json(const net::RankFigures& figures) {
  return {{"min", figures.least}, {"mean", figures.mean}, {"max", figures.most}};
}

Json results_json(const PrunedAdapter& pruned, std::size_t blocks) {
  return {
      {"method", pruned.adapter.method},
      {"base_model", pruned.adapter.base_model},
      {"by", "svd"},
      {"energy", pruned.least_energy},
      {"ratio", pruned.ratio},
      {"blocks", blocks},
      {"blocks_kept", pruned.ranks_after.blocks},
      {"ranks",
       {{"before", ranks_json(pruned.ranks_before)}, {"after", ranks_json(pruned.ranks_after)}}},
      {"parameters", {{"before", pruned.parameters_before}, {"after", pruned.parameters_after}}}};
}

}  // namespace

PruneResult prune_adapter(const std::string& name, const net::Adapter& adapter,
                          net::AdapterKind kind, const PruneOptions& options,
                          std::map<std::string, Setting> config, const std::string& settings,
                          Session& session) {
  const net::AdapterPruning pruning(adapter);
  const Ranks ranks = chosen_ranks(options, pruning);
  PrunedAdapter pruned;
  pruned.adapter = pruning.keep(ranks);
  pruned.ranks_before = net::figures_of(net::ranks_of(adapter));
  pruned.ranks_after = net::figures_of(ranks);
  pruned.parameters_before = adapter.parameters();
  pruned.parameters_after = pruning.parameters(ranks);
  pruned.ratio = pruning.ratio(ranks);
  pruned.least_energy = least_energy(pruning, ranks);
  check_adapter_files(name, pruned.adapter, kind);

  PruneResult result;
  Run run(session, "prune", std::move(config), settings);
  result.folder = run.path();
  if (run.has_folder()) {
    RunFolder& folder = run.folder();
    write_adapter_files(folder.staging(), pruned.adapter, kind, options.compact);
    io::write_atomically(folder.file("pruning.csv"), pruning_csv(pruning));
    io::write_atomically(folder.file("ranks.csv"), ranks_csv(adapter, pruning, ranks));
    write_run_json(folder, run.info(), results_json(pruned, ranks.size()));
  }
  result.pruned = std::move(pruned);
  return result;
}

}  // namespace udv::jobs

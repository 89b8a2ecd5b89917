// SPDX-License-Identifier: MIT
#include "jobs/prune_adapter.hpp"

#include <algorithm>
#include <filesystem>

#include "core/require.hpp"
#include "jobs/adapter_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using Ranks = net::AdapterPruning::Ranks;

Ranks chosen_ranks(const PruneOptions& options, const net::AdapterPruning& pruning) {
  if (options.max_loss > 0) {
    require(pruning.measures_loss(), "prune: a limit of the loss needs inputs and gradients");
    return pruning.budget().of_loss(options.max_loss);
  }
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

// Bytes of the tensors of an adapter, in its folder or a file; 0 where there is none.
double tensor_file_size(const std::filesystem::path& path) {
  std::error_code unknown;
  for (const auto& file : {path / "adapter_model.safetensors", path / "model.safetensors", path})
    if (std::filesystem::is_regular_file(file, unknown))
      return static_cast<double>(std::filesystem::file_size(file));
  return 0;
}

Json ranks_json(const net::RankFigures& figures) {
  return {{"min", figures.least}, {"mean", figures.mean}, {"max", figures.most}};
}

Json results_json(const PrunedAdapter& pruned, std::size_t blocks) {
  Json json = {
      {"method", pruned.adapter.method},
      {"base_model", pruned.adapter.base_model},
      {"by", "svd"},
      {"energy", pruned.least_energy},
      {"ratio", pruned.ratio},
      {"blocks", blocks},
      {"blocks_kept", pruned.ranks_after.blocks},
      {"ranks",
       {{"before", ranks_json(pruned.ranks_before)}, {"after", ranks_json(pruned.ranks_after)}}},
      {"parameters", {{"before", pruned.parameters_before}, {"after", pruned.parameters_after}}},
      {"bytes", {{"before", pruned.bytes.before}, {"after", pruned.bytes.after}}}};
  if (pruned.predicted_loss) json["predicted_loss"] = number(*pruned.predicted_loss);
  return json;
}

}  // namespace

PruneResult prune_adapter(const AdapterToPrune& what, const PruneOptions& options,
                          std::map<std::string, Setting> config, const std::string& settings,
                          Session& session) {
  const net::AdapterPruning pruning(what.adapter, what.calibration);
  const Ranks ranks = chosen_ranks(options, pruning);
  PrunedAdapter pruned;
  pruned.adapter = pruning.keep(ranks);
  pruned.ranks_before = net::figures_of(net::ranks_of(what.adapter));
  pruned.ranks_after = net::figures_of(ranks);
  pruned.parameters_before = what.adapter.parameters();
  pruned.parameters_after = pruning.parameters(ranks);
  pruned.ratio = pruning.ratio(ranks);
  pruned.least_energy = least_energy(pruning, ranks);
  if (pruning.measures_loss()) pruned.predicted_loss = pruning.budget().dropped(ranks);
  check_adapter_files(what.name, pruned.adapter, what.kind);

  PruneResult result;
  Run run(session, "prune", std::move(config), settings);
  result.folder = run.path();
  if (run.has_folder()) {
    RunFolder& folder = run.folder();
    write_adapter_files(folder.staging(), pruned.adapter, what.kind, options.compact);
    pruned.bytes = {tensor_file_size(what.name), tensor_file_size(folder.staging())};
    io::write_atomically(folder.file("pruning.csv"), pruning_csv(pruning));
    io::write_atomically(folder.file("ranks.csv"), ranks_csv(what.adapter, pruning, ranks));
    write_run_json(folder, run.info(), results_json(pruned, ranks.size()));
  }
  result.pruned = std::move(pruned);
  return result;
}

}  // namespace udv::jobs

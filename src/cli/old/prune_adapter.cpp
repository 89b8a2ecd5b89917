// SPDX-License-Identifier: MIT
#include "cli/prune_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/adapter_tables.hpp"
#include "cli/export_adapter.hpp"
#include "io/run_json.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/net/peft.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using Json = io::detail::RunJson;
using Ranks = net::AdapterPruning::Ranks;

Ranks ranks_of(const net::Adapter& adapter) {
  Ranks ranks;
  for (const net::AdapterBlock& block : adapter.blocks) ranks.push_back(block.rank());
  return ranks;
}

Ranks ranks_of(const AdapterBudget& budget, const net::AdapterPruning& pruning) {
  if (budget.rank > 0) return pruning.ranks_at_most(budget.rank);
  return budget.ratio > 0 ? pruning.ranks_of_ratio(budget.ratio)
                          : pruning.ranks_of_energy(budget.energy);
}

// The least share that a block has kept; 0 where a block is gone.
double least_energy(const net::AdapterPruning& pruning, const Ranks& ranks) {
  double least = 1;
  for (std::size_t b = 0; b < ranks.size(); ++b)
    least = std::min(least, pruning.energy_kept(b, ranks[b]));
  return least;
}

Json config_json(const std::string& path, const AdapterBudget& budget) {
  Json config = {{"model", path}};
  if (budget.rank > 0)
    config["rank"] = budget.rank;
  else if (budget.ratio > 0)
    config["ratio"] = budget.ratio;
  else
    config["energy"] = budget.energy;
  return config;
}

Json ranks_json(const Ranks& ranks) {
  const RankFigures figures = figures_of(ranks);
  return {{"min", figures.least}, {"mean", figures.mean}, {"max", figures.most}};
}

Json run_json(Json config, const net::Adapter& before, const net::AdapterPruning& pruning,
              const Ranks& ranks) {
  return {{"udv", version()},
          {"command", "prune"},
          {"config", std::move(config)},
          {"method", before.method},
          {"base_model", before.base_model},
          {"by", "svd"},
          {"energy", least_energy(pruning, ranks)},
          {"ratio", pruning.ratio(ranks)},
          {"blocks", ranks.size()},
          {"blocks_kept", figures_of(ranks).blocks},
          {"ranks", {{"before", ranks_json(ranks_of(before))}, {"after", ranks_json(ranks)}}},
          {"parameters", {{"before", before.parameters()}, {"after", pruning.parameters(ranks)}}}};
}

// The adapter before, and what the ranks leave of it.
void print_comparison(const net::Adapter& before, const net::AdapterPruning& pruning,
                      const Ranks& after) {
  const RankFigures old_figures = figures_of(ranks_of(before)), new_figures = figures_of(after);
  const auto whole = [](Index count) { return fmt::format("{}", count); };
  const auto ranks = [](const RankFigures& f) {
    return fmt::format("{} / {:.3g} / {}", f.least, f.mean, f.most);
  };
  fmt::print("{}\n",
             report::table(
                 {"", "before", "after"},
                 {{"blocks", whole(old_figures.blocks), whole(new_figures.blocks)},
                  {"rank, min / mean / max", ranks(old_figures), ranks(new_figures)},
                  {"parameters", whole(before.parameters()), whole(pruning.parameters(after))}}));
  fmt::print("  {:.3g} of the parameters left, at least {:.6g} of the energy of every block\n",
             pruning.ratio(after), least_energy(pruning, after));
}

}  // namespace

ExitCode prune_adapter(const std::string& path, const AdapterBudget& budget,
                       const CommonFlags& common) {
  set_num_threads(common.threads);
  const net::AdapterKind kind = net::adapter_kind(path);
  if (budget.compact && kind != net::AdapterKind::kPeft)
    throw CLI::ValidationError("--compact", "goes with the folder of a PEFT adapter");
  const net::Adapter adapter = net::read_adapter(path);
  const net::AdapterPruning pruning(adapter);
  const Ranks ranks = ranks_of(budget, pruning);
  const net::Adapter smaller = pruning.keep(ranks);
  if (kind == net::AdapterKind::kPeft) net::check_for_peft(path, smaller);

  const auto folder = make_run_folder(common, "prune");
  write_adapter_files(folder, smaller, kind, budget.compact);
  io::write_atomically(folder / "pruning.csv", pruning_csv(pruning));
  io::write_atomically(folder / "ranks.csv", ranks_csv(adapter, pruning, ranks));
  io::detail::write_json(folder / "run.json",
                         run_json(config_json(path, budget), adapter, pruning, ranks));
  leave_report(common, "prune", folder);
  if (common.quiet) return kDone;
  print_comparison(adapter, pruning, ranks);
  fmt::print("  results        {}\n", folder.string());
  return kDone;
}

}  // namespace udv::cli

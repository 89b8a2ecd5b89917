// SPDX-License-Identifier: MIT
#include "cli/prune_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

constexpr double kEnergies[] = {0.5,  0.6,  0.7,  0.8,   0.85,  0.9,    0.925, 0.95,
                                0.97, 0.98, 0.99, 0.995, 0.999, 0.9999, 1};

/// What ranks look like from afar.
struct RankFigures {
  Index blocks = 0;  // of rank 1 at least
  Index least = 0, most = 0;
  double mean = 0;
};

RankFigures figures_of(const Ranks& ranks) {
  RankFigures figures;
  if (ranks.empty()) return figures;
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
  figures.least = *least;
  figures.most = *most;
  figures.blocks = std::count_if(ranks.begin(), ranks.end(), [](Index r) { return r > 0; });
  figures.mean = static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), Index{0})) /
                 static_cast<double>(ranks.size());
  return figures;
}

Ranks ranks_of(const net::Adapter& adapter) {
  Ranks ranks;
  for (const net::AdapterBlock& block : adapter.blocks) ranks.push_back(block.rank());
  return ranks;
}

// The energy that the budget comes to, 0 for a rank.
double energy_of(const AdapterBudget& budget, const net::AdapterPruning& pruning) {
  if (budget.rank > 0) return 0;
  return budget.ratio > 0 ? pruning.energy_for_ratio(budget.ratio) : budget.energy;
}

std::string pruning_csv(const net::AdapterPruning& pruning) {
  std::string text = "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max\n";
  for (const double energy : kEnergies) {
    const Ranks ranks = pruning.ranks_of_energy(energy);
    const RankFigures figures = figures_of(ranks);
    text += fmt::format("{},{:.6g},{},{},{},{:.6g},{}\n", energy, pruning.ratio(ranks),
                        pruning.parameters(ranks), figures.blocks, figures.least, figures.mean,
                        figures.most);
  }
  return text;
}

std::string ranks_csv(const net::Adapter& before, const net::AdapterPruning& pruning,
                      const Ranks& ranks) {
  std::string text = "block,rank_before,rank_after,energy_kept\n";
  for (std::size_t b = 0; b < ranks.size(); ++b)
    text += fmt::format("{},{},{},{:.9g}\n", before.blocks[b].name, before.blocks[b].rank(),
                        ranks[b], pruning.energy_kept(b, ranks[b]));
  return text;
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
              const Ranks& ranks, double energy) {
  return {{"udv", version()},
          {"command", "prune"},
          {"config", std::move(config)},
          {"method", before.method},
          {"base_model", before.base_model},
          {"by", "svd"},
          {"energy", energy > 0 ? Json(energy) : Json(nullptr)},
          {"ratio", pruning.ratio(ranks)},
          {"blocks", ranks.size()},
          {"blocks_kept", figures_of(ranks).blocks},
          {"ranks", {{"before", ranks_json(ranks_of(before))}, {"after", ranks_json(ranks)}}},
          {"parameters", {{"before", before.parameters()}, {"after", pruning.parameters(ranks)}}}};
}

// The adapter before, and what the ranks leave of it.
void print_comparison(const net::Adapter& before, const net::AdapterPruning& pruning,
                      const Ranks& after, double energy) {
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
  fmt::print("  {:.3g} of the parameters left{}\n", pruning.ratio(after),
             energy > 0 ? fmt::format(", {:.6g} of the energy of every block", energy) : "");
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
  const double energy = energy_of(budget, pruning);
  const Ranks ranks =
      energy > 0 ? pruning.ranks_of_energy(energy) : pruning.ranks_at_most(budget.rank);
  const net::Adapter smaller = pruning.keep(ranks);
  if (kind == net::AdapterKind::kPeft) net::check_for_peft(path, smaller);

  const auto folder = make_run_folder(common, "prune");
  write_adapter_files(folder, smaller, kind, budget.compact);
  io::write_atomically(folder / "pruning.csv", pruning_csv(pruning));
  io::write_atomically(folder / "ranks.csv", ranks_csv(adapter, pruning, ranks));
  io::detail::write_json(folder / "run.json",
                         run_json(config_json(path, budget), adapter, pruning, ranks, energy));
  leave_report(common, "prune", folder);
  if (common.quiet) return kDone;
  print_comparison(adapter, pruning, ranks, energy);
  fmt::print("  results        {}\n", folder.string());
  return kDone;
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "jobs/adapter_files.hpp"

#include <fmt/format.h>

#include "core/require.hpp"
#include "udv/net/files/peft.hpp"

namespace udv::jobs {
namespace {

using Ranks = net::AdapterPruning::Ranks;

constexpr double kEnergies[] = {0.2,  0.35, 0.5,  0.6,  0.7,   0.8,   0.85,   0.9, 0.925,
                                0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 0.9999, 1};

}  // namespace

std::string pruning_csv(const net::AdapterPruning& pruning, const PerplexityOfRanks& perplexity) {
  std::string text = "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max";
  text += perplexity ? ",perplexity\n" : "\n";
  for (const double energy : kEnergies) {
    const Ranks ranks = pruning.ranks_of_energy(energy);
    const RankFigures figures = figures_of(ranks);
    text += fmt::format("{},{:.6g},{},{},{},{:.6g},{}", energy, pruning.ratio(ranks),
                        pruning.parameters(ranks), figures.blocks, figures.least, figures.mean,
                        figures.most);
    text += perplexity ? fmt::format(",{:.9g}\n", perplexity(ranks)) : "\n";
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

void check_adapter_files(const std::string& name, const net::Adapter& adapter,
                         net::AdapterKind kind) {
  if (kind == net::AdapterKind::kPeft) net::check_for_peft(name, adapter);
  // A diverged training writes its adapter as it is; here it would be taken for a good one.
  for (const net::AdapterBlock& block : adapter.blocks)
    require<IoError>(block.A.allFinite() && block.d.allFinite() && block.B.allFinite(), name,
                     ": block '", block.name,
                     "' is too large for single precision: its factors are not finite");
}

void write_adapter_files(const std::filesystem::path& folder, const net::Adapter& adapter,
                         net::AdapterKind kind, bool compact) {
  check_adapter_files(folder.string(), adapter, kind);
  if (kind == net::AdapterKind::kPeft)
    net::write_peft(folder, adapter, compact ? net::PeftForm::kCompact : net::PeftForm::kPadded);
  else
    net::write_adapter(folder / "model.safetensors", adapter);
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/inspect_kinds.hpp"
#include "udv/net/adapter_file.hpp"
#include "udv/net/head.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

void print_blocks(const net::Adapter& adapter, double energy) {
  const net::AdapterPruning pruning(adapter);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t b = 0; b < pruning.blocks(); ++b) {
    const net::AdapterBlock& block = adapter.blocks[b];
    const Vector<double>& spectrum = pruning.spectrum(b);
    rows.push_back({block.name, fmt::format("{} x {}", block.B.rows(), block.A.cols()),
                    fmt::format("{}", block.rank()),
                    fmt::format("{:.3g}", net::stable_rank(spectrum)),
                    fmt::format("{}", net::energy_rank(spectrum, energy))});
  }
  fmt::print("\n{}", report::table({"block", "out x in", "rank", "stable rank",
                                    fmt::format("rank at {:g} % energy", 100 * energy)},
                                   rows));
}

}  // namespace

void show_adapter(const std::filesystem::path& path, const InspectOptions& options) {
  const net::Adapter adapter = net::read_adapter(path);
  const bool peft = net::adapter_kind(path) == net::AdapterKind::kPeft;
  print_file(path);
  print_row("adapter", fmt::format("{}{}", adapter.method, peft ? ", PEFT" : ""));
  if (!adapter.base_model.empty()) print_row("base model", plain_text(adapter.base_model));
  print_row("blocks", fmt::format("{}", adapter.blocks.size()));
  print_row("parameters", fmt::format("{}", adapter.parameters()));
  for (const auto& [key, text] : adapter.metadata) print_row(plain_text(key), plain_text(text));
  print_blocks(adapter, options.energy);
}

}  // namespace udv::cli

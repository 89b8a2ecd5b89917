// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "jobs/inspect/kinds.hpp"
#include "udv/core/text.hpp"
#include "udv/net/files/adapter_file.hpp"
#include "udv/net/head.hpp"

namespace udv::jobs {
namespace {

void add_blocks(const net::Adapter& adapter, double energy, InspectReport& report) {
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
  report.table({"block", "out x in", "rank", "stable rank",
                fmt::format("rank at {:g} % energy", 100 * energy)},
               std::move(rows));
}

}  // namespace

void show_adapter(const std::filesystem::path& path, const InspectOptions& options,
                  InspectReport& report) {
  const net::Adapter adapter = net::read_adapter(path);
  const bool peft = net::adapter_kind(path) == net::AdapterKind::kPeft;
  add_file(path, report);
  report.fact("adapter", fmt::format("{}{}", adapter.method, peft ? ", PEFT" : ""));
  if (!adapter.base_model.empty()) report.fact("base model", plain_text(adapter.base_model));
  report.fact("blocks", fmt::format("{}", adapter.blocks.size()));
  report.fact("parameters", fmt::format("{}", adapter.parameters()));
  for (const auto& [key, text] : adapter.metadata) report.fact(plain_text(key), plain_text(text));
  add_blocks(adapter, options.energy, report);
}

}  // namespace udv::jobs

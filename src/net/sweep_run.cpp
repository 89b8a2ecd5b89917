// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "io/run_json.hpp"
#include "udv/core/version.hpp"
#include "udv/net/sweep.hpp"

namespace udv::net {
namespace {

using io::detail::number;
using Json = io::detail::RunJson;

std::string rate_name(const SweepCell& cell) {
  return cell.weight_decay > 0
             ? fmt::format("{:g}, decay {:g}", cell.learning_rate, cell.weight_decay)
             : fmt::format("{:g}", cell.learning_rate);
}

Json cell_json(const SweepSummary& s, const std::string& dataset) {
  Json json = {{"mean", number(s.mean)},
               {"deviation", number(s.deviation)},
               {"runs", s.runs},
               {"diverged", s.diverged},
               {"stable_rank", number(s.stable_rank)},
               {"effective_rank", number(s.effective_rank)},
               {"rank_99", number(s.rank_99)},
               {"best", s.best}};
  const auto paper = s.cell.weight_decay > 0 ? std::nullopt
                                             : paper_value(dataset, s.cell.optimizer,
                                                           s.cell.variant, s.cell.learning_rate);
  if (paper) json["paper"] = *paper;
  return json;
}

}  // namespace

void write_sweep_run(const std::filesystem::path& folder, const std::vector<SweepRow>& rows,
                     const std::string& dataset) {
  const bool classes = std::any_of(rows.begin(), rows.end(),
                                   [](const auto& row) { return row.test_accuracy.has_value(); });
  double seconds = 0;
  for (const SweepRow& row : rows) seconds += row.seconds;
  Json run = {{"udv", version()},        {"command", "sweep"},
              {"dataset", dataset},      {"metric", classes ? "test_accuracy" : "test_loss"},
              {"runs", rows.size()},     {"seconds", seconds},
              {"cells", Json::object()}, {"best", Json::object()}};
  for (const SweepSummary& s : summarise(rows)) {
    Json cell = cell_json(s, dataset);
    if (s.best && s.cell.weight_decay == 0) {
      Json best = cell;
      best["rate"] = s.cell.learning_rate;
      run["best"][s.cell.optimizer][s.cell.variant] = std::move(best);
    }
    run["cells"][s.cell.optimizer][s.cell.variant][rate_name(s.cell)] = std::move(cell);
  }
  io::detail::write_json(folder / "run.json", run);
}

}  // namespace udv::net

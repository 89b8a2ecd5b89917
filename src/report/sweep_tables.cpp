// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "charts.hpp"

namespace udv::report {
namespace {

// All learning rates of one optimizer, ascending, decays after them.
std::vector<std::string> rates_of(const Json& variants) {
  std::map<std::pair<double, double>, std::string> found;
  for (const auto& [variant, rates] : variants.items())
    for (const auto& [rate, cell] : rates.items()) {
      const auto comma = rate.find(", decay ");
      const double decay = comma == rate.npos ? 0 : std::atof(rate.c_str() + comma + 8);
      found[{decay, std::atof(rate.c_str())}] = rate;
    }
  std::vector<std::string> names;
  for (const auto& [order, name] : found) names.push_back(name);
  return names;
}

double value_of(const Json& cell, const char* key) {
  const auto at = cell.find(key);
  return at != cell.end() && at->is_number() ? at->get<double>() : NAN;
}

Json metric_cell(const Json& cell, bool percent) {
  const auto text = [&](double value) {
    return percent ? fmt::format("{:.2f} %", value) : fmt::format("{:.3e}", value);
  };
  const double diverged = value_of(cell, "diverged");
  if (value_of(cell, "runs") == 0) return fmt::format("diverged ({:.0f})", diverged);
  std::string shown = text(value_of(cell, "mean") * (percent ? 100 : 1));
  if (diverged > 0) shown += fmt::format(" ({:.0f} diverged)", diverged);
  Json json = {{"text", shown}};
  if (cell.value("best", false)) json["best"] = true;
  if (cell.contains("paper")) json["paper"] = text(value_of(cell, "paper"));
  return json;
}

Json rank_cell(const Json& cell) {
  const double excess = value_of(cell, "stable_rank") - 1;
  if (value_of(cell, "runs") == 0) return "";
  return excess < 0 ? std::string("0 (died)") : fmt::format("{:.3g}", excess);  // UD = 0 in some
}

template <typename CellText>
Json rates_table(const std::string& title, const Json& variants, const CellText& cell_text) {
  const std::vector<std::string> rates = rates_of(variants);
  std::vector<std::string> columns{"learning rate"};
  columns.insert(columns.end(), rates.begin(), rates.end());
  std::vector<Json> rows;
  for (const auto& [variant, cells] : variants.items()) {
    Json row = Json::array({variant});
    for (const std::string& rate : rates)
      row.push_back(cells.contains(rate) ? cell_text(cells[rate]) : Json(""));
    rows.push_back(std::move(row));
  }
  return table_block(title, columns, std::move(rows));
}

}  // namespace

std::vector<Json> sweep_tables(const RunView& run) {
  std::vector<Json> blocks;
  const auto cells = run.run.find("cells");
  if (cells == run.run.end() || !cells->is_object()) return blocks;
  const bool percent = run.text("metric") == "test_accuracy";
  const std::string dataset = run.text("dataset");
  for (const auto& [optimizer, variants] : cells->items()) {
    const std::string of = dataset.empty() ? optimizer : dataset + ", " + optimizer;
    blocks.push_back(rates_table(of + (percent ? ": test accuracy" : ": test loss"), variants,
                                 [&](const Json& cell) { return metric_cell(cell, percent); }));
    blocks.push_back(rates_table(of + ": excess stable rank ‖UD‖²/σ₁² − 1", variants, rank_cell));
  }
  return blocks;
}

}  // namespace udv::report

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

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
  const double unit = percent ? 100 : 1, deviation = value_of(cell, "deviation");
  std::string shown = text(value_of(cell, "mean") * unit);
  if (value_of(cell, "runs") > 1)
    shown +=
        percent ? fmt::format(" ± {:.2f}", unit * deviation) : fmt::format(" ± {:.1e}", deviation);
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

struct BestCell {
  std::string optimizer, variant, rate;
  Json cell;
};

// The best of all cells by the validation part, else by the metric.
std::optional<BestCell> best_cell(const Json& cells, bool percent) {
  std::optional<BestCell> best;
  for (const auto& [optimizer, variants] : cells.items())
    for (const auto& [variant, rates] : variants.items())
      for (const auto& [rate, cell] : rates.items()) {
        if (!cell.value("best", false)) continue;
        const auto score = [&](const Json& of) {
          const double validation = value_of(of, "validation");
          return std::isnan(validation) ? (percent ? -1 : 1) * value_of(of, "mean") : validation;
        };
        if (!best || score(cell) < score(best->cell)) best = {optimizer, variant, rate, cell};
      }
  return best;
}

Json summary_block(const RunView& run, const Json& cells, bool percent) {
  std::string text;
  bool validated = false;
  if (const auto best = best_cell(cells, percent)) {
    validated = !std::isnan(value_of(best->cell, "validation"));
    const double unit = percent ? 100 : 1;
    text = fmt::format(
        "Best: {} with {} at learning rate {}: {} {:.4g}{} ± {:.2g} over {:.0f} runs. ",
        best->variant, best->optimizer, best->rate, percent ? "test accuracy" : "test loss",
        unit * value_of(best->cell, "mean"), percent ? " %" : "",
        unit * value_of(best->cell, "deviation"), value_of(best->cell, "runs"));
  }
  text += fmt::format(
      "{:.0f} runs in all. Tables show means ± standard deviations over seeds and "
      "splits; bold is the best learning rate of a variant, chosen on the {} part.",
      run.number("runs").value_or(0), validated ? "validation" : "test");
  return {{"kind", "text"}, {"title", "Answer"}, {"text", text}};
}

// The metric against the learning rate, one line for each variant; nothing for a single rate.
std::vector<Json> rates_chart(const std::string& title, const Json& variants, bool percent) {
  std::vector<Series> series;
  std::size_t longest = 0;
  for (const auto& [variant, cells] : variants.items()) {
    Series one;
    one.name = variant;
    one.dash = variant.starts_with("UV") || variant == "single" || variant == "UFV";
    std::map<double, double> points;
    for (const auto& [rate, cell] : cells.items())
      if (rate.find("decay") == rate.npos && std::atof(rate.c_str()) > 0 &&
          value_of(cell, "runs") > 0)
        points[std::atof(rate.c_str())] = value_of(cell, "mean") * (percent ? 100 : 1);
    for (const auto& [rate, mean] : points) one.x.push_back(rate), one.y.push_back(mean);
    longest = std::max(longest, one.x.size());
    if (!one.x.empty()) series.push_back(std::move(one));
  }
  if (longest < 2) return {};
  Json block = lines_block(title, {"learning rate", true},
                           {percent ? "test accuracy, %" : "test loss", !percent}, series);
  block["points"] = true;
  return {block};
}

}  // namespace

std::vector<Json> sweep_tables(const RunView& run) {
  std::vector<Json> blocks;
  const auto cells = run.run.find("cells");
  if (cells == run.run.end() || !cells->is_object()) return blocks;
  const bool percent = run.text("metric") == "test_accuracy";
  const std::string dataset = run.text("dataset");
  blocks.push_back(summary_block(run, *cells, percent));
  for (const auto& [optimizer, variants] : cells->items()) {
    const std::string of = dataset.empty() ? optimizer : dataset + ", " + optimizer;
    for (Json& chart : rates_chart(of, variants, percent)) blocks.push_back(std::move(chart));
    blocks.push_back(rates_table(of + (percent ? ": test accuracy" : ": test loss"), variants,
                                 [&](const Json& cell) { return metric_cell(cell, percent); }));
    blocks.push_back(rates_table(of + ": excess stable rank ‖UD‖²/σ₁² − 1", variants, rank_cell));
  }
  return blocks;
}

}  // namespace udv::report

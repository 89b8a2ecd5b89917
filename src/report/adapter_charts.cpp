// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "charts.hpp"

namespace udv::report {
namespace {

// "model.layers.3.self_attn.q_proj" is the matrix "q_proj" of layer 3.
struct LayerMatrix {
  Index layer;
  std::string matrix;
};

std::optional<LayerMatrix> layer_matrix_of(const std::string& block) {
  constexpr const char* kLayers = "layers.";
  const std::size_t at = block.find(kLayers), last = block.rfind('.');
  if (at == block.npos || last == block.npos) return std::nullopt;
  const std::string digits = block.substr(at + std::char_traits<char>::length(kLayers));
  const std::size_t end = digits.find_first_not_of("0123456789");
  if (end == 0 || end == digits.npos || end > 6) return std::nullopt;
  return LayerMatrix{std::stol(digits.substr(0, end)), block.substr(last + 1)};
}

// One line for each run whose pruning.csv has this column.
std::vector<Series> pruning_series(const std::vector<ChartRun>& runs, const char* column) {
  std::vector<Series> series;
  for (const ChartRun& run : runs) {
    if (!run.view->has("pruning.csv")) continue;
    const NumberTable table = run.view->columns("pruning.csv");
    if (!table.contains("ratio") || !table.contains(column)) continue;
    Series one;
    one.name = run.label;
    one.dash = run.view->classical();
    one.color = run.color;
    one.x = table.at("ratio");
    one.y = table.at(column);
    series.push_back(std::move(one));
  }
  return series;
}

}  // namespace

std::vector<Json> adapter_pruning_chart(const std::string& title,
                                        const std::vector<ChartRun>& runs) {
  const auto perplexity = pruning_series(runs, "perplexity");
  const auto energy = pruning_series(runs, "energy");
  const Axis left{"parameters left", true};
  Json block;
  if (!perplexity.empty())
    block = lines_block(title, left, {"perplexity", true}, perplexity);
  else if (!energy.empty())
    block = lines_block("Energy that every block keeps", left, {"energy", false}, energy);
  else
    return {};
  block["points"] = true;
  return {block};
}

std::vector<Json> adapter_ranks_map(const std::string& title, const RunView& run) {
  if (!run.has("ranks.csv")) return {};
  const io::TextTable table = run.table("ranks.csv");
  const Index block = table.find("block"), kept = table.find("rank_after");
  if (block < 0 || kept < 0) return {};
  std::map<std::string, std::map<Index, double>> ranks;  // by matrix, then layer
  std::set<Index> layers;
  for (Index r = 0; r < table.rows(); ++r) {
    const auto place = layer_matrix_of(std::string(table.field(r, block)));
    double rank = 0;
    if (!place || !io::parse_number(table.field(r, kept), rank)) continue;
    ranks[place->matrix][place->layer] = rank;
    layers.insert(place->layer);
  }
  if (ranks.empty()) return {};
  Json x = Json::array(), y = Json::array(), values = Json::array();
  for (const Index layer : layers) x.push_back(std::to_string(layer));
  for (const auto& [matrix, by_layer] : ranks) {
    y.push_back(matrix);
    Json row = Json::array();
    for (const Index layer : layers)
      row.push_back(by_layer.contains(layer) ? chart_number(by_layer.at(layer)) : Json(nullptr));
    values.push_back(std::move(row));
  }
  return {{{"kind", "heatmap"},
           {"title", title},
           {"x_title", "layer"},
           {"y_title", "matrix"},
           {"x", x},
           {"y", y},
           {"values", values},
           {"value_title", "rank kept"}}};
}

}  // namespace udv::report

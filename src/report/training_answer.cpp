// SPDX-License-Identifier: MIT
// What a page of a trained network starts with: its errors in the user's units, beside what needs
// no network, and predicted against true values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "charts.hpp"

namespace udv::report {
namespace {

constexpr std::size_t kBins = 20;
constexpr std::size_t kMostConfused = 40;  // classes of a map

double value_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : NAN;
}

std::string value_text(double value) {
  return std::abs(value) >= 1e4 && std::abs(value) < 1e9 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.4g}", value);
}

std::string answer_text(const RunView& run, const Json& baseline) {
  const auto rows = run.number("test_rows");
  const std::string where = rows ? fmt::format(" on {:.0f} test rows", *rows) : "";
  if (const auto accuracy = run.number("test_accuracy")) {
    const double without = value_at(baseline, "accuracy");
    return fmt::format("{:.2f} % right{}; always \"{}\" would be right in {:.2f} %.",
                       100 * *accuracy, where, baseline.value("class", ""), 100 * without);
  }
  return fmt::format("RMSE {}, MAE {}, R² {:.4f}{}; predicting the mean gives RMSE {}, MAE {}.",
                     value_text(run.number("test_rmse").value_or(NAN)),
                     value_text(run.number("test_mae").value_or(NAN)),
                     run.number("test_r2").value_or(NAN), where,
                     value_text(value_at(baseline, "rmse")), value_text(value_at(baseline, "mae")));
}

struct Bin {
  double x, mean, low, high;
};

// Rows sorted by their true value, in bins of equally many.
std::vector<Bin> bins_of(const std::vector<double>& truth, const std::vector<double>& found) {
  std::vector<std::pair<double, double>> rows;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (std::isfinite(truth[i]) && std::isfinite(found[i])) rows.emplace_back(truth[i], found[i]);
  std::sort(rows.begin(), rows.end());
  std::vector<Bin> bins;
  const std::size_t count = std::min(kBins, rows.size() / 3);
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = b * rows.size() / count, end = (b + 1) * rows.size() / count;
    std::vector<double> values;
    Bin bin{0, 0, 0, 0};
    for (std::size_t i = begin; i < end; ++i) {
      bin.x += rows[i].first / static_cast<double>(end - begin);
      bin.mean += rows[i].second / static_cast<double>(end - begin);
      values.push_back(rows[i].second);
    }
    std::sort(values.begin(), values.end());
    bin.low = values[values.size() / 10];
    bin.high = values[values.size() - 1 - values.size() / 10];
    bins.push_back(bin);
  }
  return bins;
}

std::vector<Json> scatter_block(const RunView& run) {
  if (!run.number("test_rmse") || !run.has("test_predictions.csv")) return {};
  const NumberTable table = run.columns("test_predictions.csv");
  if (!table.contains("true") || !table.contains("predicted")) return {};
  const std::vector<Bin> bins = bins_of(table.at("true"), table.at("predicted"));
  if (bins.size() < 2) return {};
  Series found, diagonal;
  found.name = "predicted: mean and 10 to 90 % of the rows";
  diagonal.name = "equal";
  diagonal.dash = true;
  Json band = Json::array();
  for (const Bin& bin : bins) {
    found.x.push_back(bin.x);
    found.y.push_back(bin.mean);
    band.push_back({chart_number(bin.x), chart_number(bin.low), chart_number(bin.high)});
  }
  diagonal.x = diagonal.y = {bins.front().x, bins.back().x};
  Json block =
      lines_block("Predicted against true", {"true value"}, {"predicted value"}, {found, diagonal});
  block["series"][0]["band"] = std::move(band);
  block["points"] = true;
  return {block};
}

std::vector<Json> class_blocks(const RunView& run) {
  const auto classes = run.run.find("classes");
  if (classes == run.run.end() || !classes->is_array()) return {};
  std::vector<Json> rows;
  std::vector<std::string> names;
  const auto percent = [](double share) {
    return std::isnan(share) ? std::string("–") : fmt::format("{:.1f} %", 100 * share);
  };
  for (const Json& one : *classes) {
    names.push_back(one.value("class", ""));
    rows.push_back(Json::array({names.back(), percent(value_at(one, "precision")),
                                percent(value_at(one, "recall")),
                                fmt::format("{:.0f}", value_at(one, "rows"))}));
  }
  std::vector<Json> blocks;
  const auto confusion = run.run.find("confusion");
  if (confusion != run.run.end() && confusion->is_array() && names.size() <= kMostConfused)
    blocks.push_back({{"kind", "heatmap"},
                      {"title", "Confusion matrix"},
                      {"x_title", "predicted class"},
                      {"y_title", "true class"},
                      {"x", names},
                      {"y", names},
                      {"values", *confusion},
                      {"value_title", "rows"}});
  blocks.push_back(
      table_block("Classes", {"class", "precision", "recall", "test rows"}, std::move(rows)));
  return blocks;
}

}  // namespace

std::vector<Json> training_answer(const RunView& run) {
  const auto baseline = run.run.find("baseline");
  if (baseline == run.run.end() || !baseline->is_object()) return {};
  std::vector<Json> blocks{
      {{"kind", "text"}, {"title", "Answer"}, {"text", answer_text(run, *baseline)}}};
  for (Json& block : scatter_block(run)) blocks.push_back(std::move(block));
  for (Json& block : class_blocks(run)) blocks.push_back(std::move(block));
  return blocks;
}

}  // namespace udv::report

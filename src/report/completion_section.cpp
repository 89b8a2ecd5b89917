// SPDX-License-Identifier: MIT
#include "completion_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "udv/report/terminal.hpp"

namespace udv::report {
namespace {

using Answer = std::vector<std::pair<std::string, std::string>>;

std::string percent_text(double share) {
  return share >= 0.1 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.2g} %", 100 * share);
}

std::string with_spread(const RunView& run, const std::string& name) {
  const auto value = run.number(name.c_str()), spread = run.number((name + "_std").c_str());
  if (!value) return "";
  return spread ? fmt::format("{:.4g} ± {:.2g}", *value, *spread) : fmt::format("{:.4g}", *value);
}

// "both" is a word of the options, not of a reader.
std::string offsets_text(const RunView& run) {
  const std::string kind = run.text("center");
  const auto mean = run.number("offset");
  if (kind.empty() || kind == "none" || !mean) return "";
  const char* const of = kind == "both"   ? "of rows and columns, "
                         : kind == "rows" ? "of rows, "
                         : kind == "cols" ? "of columns, "
                                          : "";
  return fmt::format("{}mean {:.4g}", of, *mean);
}

std::string noise_text(const RunView& run) {
  const auto sigma = run.number("noise_sigma");
  if (!sigma || !(*sigma > 0)) return "";
  const std::string by = run.text("noise_by");
  return fmt::format("{:.4g} per entry{}", *sigma, by.empty() ? "" : ", different " + by);
}

Json answer_block(const RunView& run) {
  Answer items;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) items.emplace_back(name, text);
  };
  const auto rows = run.number("rows"), cols = run.number("cols"), n = run.number("measurements");
  if (rows && cols) add("matrix", fmt::format("{:.0f} × {:.0f}", *rows, *cols));
  if (rows && cols && n)
    add("known", fmt::format("{:.0f} entries, {}", *n, percent_text(*n / (*rows * *cols))));
  if (const auto rank = run.number("rank")) add("rank", fmt::format("{:.0f}", *rank));
  add("offsets", offsets_text(run));
  add("noise", noise_text(run));
  if (const auto residual = run.number("relative_residual"))
    add("relative residual", fmt::format("{:.3g}", *residual));
  add("test error", with_spread(run, "test_rmse"));
  add("fold error", with_spread(run, "fold_rmse"));
  add("verdict", run.text("verdict"));
  add("does low rank pay?", run.text("fold_verdict"));
  return facts_block("Answer", items);
}

std::vector<Json> error_table(const RunView& run) {
  std::vector<Json> rows;
  const auto add = [&](const std::string& name, const char* answer, const char* biases,
                       const char* mean) {
    if (!run.number(answer) || !run.number(mean)) return;
    rows.push_back(Json::array(
        {name, with_spread(run, answer), with_spread(run, biases), with_spread(run, mean)}));
  };
  add("test entries", "test_rmse", "test_biases_rmse", "test_mean_rmse");
  add(fmt::format("{:.0f} folds", run.number("folds").value_or(0)), "fold_rmse", "fold_biases_rmse",
      "fold_mean_rmse");
  if (rows.empty()) return {};
  return {table_block("Root mean square error on entries that were not used",
                      {"", "this answer", "biases alone", "the mean"}, std::move(rows))};
}

std::string biases_text(const std::string& center) {
  if (center == "both") return "biases of rows and columns";
  if (center == "rows") return "biases of rows";
  if (center == "cols") return "biases of columns";
  return center == "global" ? "a mean" : "no offsets";
}

// Pairs of numbers in a list of objects, one line for each word that `group` has; the largest value
// where a place has several.
std::vector<Series> series_from(const Json& list, const char* x, const char* y, const char* group) {
  std::map<std::string, std::map<double, double>> lines;
  if (list.is_array())
    for (const Json& item : list) {
      if (!item.is_object() || !item.value(x, Json()).is_number()) continue;
      if (!item.value(y, Json()).is_number()) continue;
      const Json word = item.value(group, Json(""));
      auto& line = lines[word.is_string() ? word.get<std::string>() : ""];
      const double at = item[x].get<double>(), value = item[y].get<double>();
      const auto [place, is_new] = line.try_emplace(at, value);
      if (!is_new) place->second = std::max(place->second, value);
    }
  std::vector<Series> result;
  for (const auto& [word, points] : lines) {
    Series& series = result.emplace_back();
    series.name = word.empty() ? "score" : biases_text(word);
    for (const auto& [at, value] : points) {
      series.x.push_back(at);
      series.y.push_back(value);
    }
  }
  return result;
}

// The evidence bound where variational Bayes has decided, else the score of the walk.
std::vector<Json> criterion_chart(const RunView& run) {
  std::vector<Series> shown =
      series_from(run.run.value("models", Json()), "rank", "bound", "center");
  const bool by_bound = !shown.empty();
  if (!by_bound) shown = series_from(run.run.value("rank_scores", Json()), "rank", "score", "");
  if (shown.empty()) return {};
  Json block = lines_block(
      by_bound ? "Evidence by rank (higher is better)" : "Criterion by rank (lower is better)",
      {"rank", false, true}, {by_bound ? "evidence bound" : "corrected AIC"}, shown);
  block["points"] = true;
  return {block};
}

// Every n-th held-out entry, and the line on which both are equal.
std::vector<Json> held_out_chart(const RunView& run, const Detail& detail) {
  if (!run.has("held_out.csv")) return {};
  const NumberTable table = run.columns("held_out.csv");
  if (!table.contains("value") || !table.contains("predicted")) return {};
  const std::vector<double>&value = table.at("value"), &predicted = table.at("predicted");
  if (value.empty()) return {};
  const std::size_t most = 12 * detail.buckets, every = (value.size() + most - 1) / most;
  Series points{"held-out entry", {}, {}};
  points.line = false;
  for (std::size_t t = 0; t < value.size(); t += every) {
    points.x.push_back(value[t]);
    points.y.push_back(predicted[t]);
  }
  const auto [low, high] = std::minmax_element(points.x.begin(), points.x.end());
  Series equal{"as predicted", {*low, *high}, {*low, *high}};
  equal.dash = true;
  return {lines_block("Predicted against held-out values", {"held-out value"}, {"predicted"},
                      {points, equal}, {}, points.x.size())};
}

// One line for each of the named rows or columns.
void add_weak(const RunView& run, const std::string& kind, const char* word,
              std::vector<Json>& rows) {
  const Json names = run.run.value("weak_" + kind, Json::array());
  const auto deviations = run.numbers(("weak_" + kind + "_std").c_str());
  const auto entries = run.numbers(("weak_" + kind + "_entries").c_str());
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!names[k].is_string() || k >= deviations.size() || k >= entries.size()) continue;
    const bool open = std::isnan(deviations[k]);
    rows.push_back(Json::array({fmt::format("{} {}", word, names[k].get<std::string>()),
                                open ? "not determined" : fmt::format("{:.3g}", deviations[k]),
                                fmt::format("{:.0f}", entries[k])}));
  }
}

std::vector<Json> weak_table(const RunView& run) {
  std::vector<Json> rows;
  add_weak(run, "rows", "row", rows);
  add_weak(run, "columns", "column", rows);
  if (rows.empty()) return {};
  return {
      table_block("Weak rows and columns", {"", "std of predictions", "entries"}, std::move(rows))};
}

void append_all(std::vector<Json> more, std::vector<Json>& blocks) {
  for (Json& block : more) blocks.push_back(std::move(block));
}

}  // namespace

bool is_completion(const RunView& run) {
  return run.text("command") == "complete" && run.run.contains("rank_scores") &&
         run.run["rank_scores"].is_array() && !run.run["rank_scores"].empty();
}

std::vector<Json> completion_blocks(const RunView& run, const Detail& detail) {
  std::vector<Json> blocks{answer_block(run)};
  append_all(error_table(run), blocks);
  append_all(criterion_chart(run), blocks);
  append_all(held_out_chart(run, detail), blocks);
  append_all(weak_table(run), blocks);
  return blocks;
}

std::vector<Json> walk_chart(const std::string& title, const RunView& run) {
  const NumberTable& history = run.history;
  if (!history.contains("rank") || !history.contains("objective")) return {};
  const std::vector<double>&rank = history.at("rank"), &objective = history.at("objective");
  // A walk goes up and down, and comes back to some ranks; the best fit of each is drawn.
  std::vector<std::map<double, double>> walks;
  double before = 0;
  for (std::size_t t = 0; t < rank.size(); ++t) {
    const bool last_of_fit = t + 1 == rank.size() || rank[t + 1] != rank[t];
    if (!last_of_fit || std::isnan(rank[t])) continue;
    // From nothing another walk begins.
    if (walks.empty() || (rank[t] <= 1 && before > 2)) walks.emplace_back();
    before = rank[t];
    double& best = walks.back().try_emplace(rank[t], objective[t]).first->second;
    best = std::min(best, objective[t]);
  }
  std::vector<Series> lines;
  for (const auto& walk : walks) {
    Series& line = lines.emplace_back(Series{fmt::format("walk {}", lines.size() + 1), {}, {}});
    for (const auto& [at, best] : walk) {
      line.x.push_back(at);
      line.y.push_back(best);
    }
  }
  if (lines.empty()) return {};
  Json block = lines_block(title, {"rank", false, true}, {"objective of the best fit", true}, lines,
                           {}, rank.size());
  block["points"] = true;
  return {block};
}

}  // namespace udv::report

// SPDX-License-Identifier: MIT
#include "experiment_section.hpp"

#include <algorithm>

#include "charts.hpp"
#include "core/pattern.hpp"
#include "core/require.hpp"
#include "jobs/experiment_checks.hpp"
#include "jobs/run_files.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;
using jobs::Chart;
using jobs::Experiment;
using jobs::ExperimentRun;
using Views = std::map<std::string, RunView>;

Views read_views(const Experiment& experiment, const fs::path& folder) {
  Views views;
  for (const ExperimentRun& run : experiment.runs)
    if (fs::exists(folder / run.name / jobs::kRunFile))
      views.emplace(run.name, read_run(folder / run.name, run.name));
  return views;
}

// Series of one colour belong together.
class Colors {
 public:
  int of(const std::string& color) {
    if (color.empty()) return -1;
    return numbers_.emplace(color, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

struct Scene {
  const Experiment& experiment;
  const Views& views;
  const fs::path& folder;

  std::vector<ChartRun> runs(const std::string& pattern) const {
    std::vector<ChartRun> chosen;
    Colors colors;
    for (const ExperimentRun& run : experiment.runs) {
      const int color = colors.of(run.color);
      if (matches_pattern(pattern, run.name) && views.contains(run.name))
        chosen.push_back({&views.at(run.name), run.label, color});
    }
    return chosen;
  }
};

using Blocks = std::vector<Json>;

Blocks history_blocks(const Chart& chart, const Scene& scene) {
  return history_chart(chart.title, scene.runs(chart.of), chart.y, chart.log);
}

Blocks spectra_blocks(const Chart& chart, const Scene& scene) {
  return spectra_chart(chart.title, scene.runs(chart.of), true);
}

Blocks training_blocks(const Chart& chart, const Scene& scene) {
  return training_charts(scene.runs(chart.of));
}

Blocks columns_blocks(const Chart& chart, const Scene& scene) {
  Blocks blocks;
  for (const ChartRun& run : scene.runs(chart.of))
    for (Json& block : columns_chart(chart.title + ": " + run.label, *run.view))
      blocks.push_back(std::move(block));
  return blocks;
}

Blocks pruning_blocks(const Chart& chart, const Scene& scene) {
  return pruning_chart(chart.title, scene.runs(chart.of));
}

Blocks adapter_pruning_blocks(const Chart& chart, const Scene& scene) {
  return adapter_pruning_chart(chart.title, scene.runs(chart.of));
}

Blocks adapter_ranks_blocks(const Chart& chart, const Scene& scene) {
  Blocks blocks;
  for (const ChartRun& run : scene.runs(chart.of))
    for (Json& block : adapter_ranks_map(chart.title + ": " + run.label, *run.view))
      blocks.push_back(std::move(block));
  return blocks;
}

Blocks sweep_blocks(const Chart& chart, const Scene& scene) {
  Blocks blocks;
  for (const ChartRun& run : scene.runs(chart.of))
    for (Json& block : sweep_tables(*run.view)) blocks.push_back(std::move(block));
  return blocks;
}

// Snapshots of each run, one strip a run.
Blocks snapshot_blocks(const Chart& chart, const Scene& scene) {
  Blocks blocks;
  for (const ChartRun& run : scene.runs(chart.of))
    for (Json& block : picture_blocks(*run.view)) {
      if (block["kind"] != "pictures" || !block["title"].get<std::string>().starts_with(chart.y))
        continue;
      block["title"] = chart.title + ": " + run.label;
      blocks.push_back(std::move(block));
    }
  return blocks;
}

Blocks compare_blocks(const Chart& chart, const Scene& scene) {
  const fs::path before = scene.folder / chart.before, after = scene.folder / chart.after;
  if (!fs::is_regular_file(before) || !fs::is_regular_file(after)) return {};
  const auto caption = [&](const std::string& file) {
    const std::string name = file.substr(0, file.find('/'));
    return file.ends_with("truth.png") ? std::string("true image") : name;
  };
  return {compare_block(chart.title, picture(caption(chart.before), before),
                        picture(caption(chart.after), after))};
}

Blocks table_blocks(const Chart& chart, const Scene& scene) {
  std::vector<std::string> columns{"run"};
  for (const auto& [name, figure] : chart.figures) columns.push_back(name);
  std::vector<Json> rows;
  for (const ChartRun& run : scene.runs(chart.of)) {
    Json row = Json::array({run.label});
    for (const auto& [name, figure] : chart.figures)
      row.push_back(jobs::figure_text(jobs::measure_in(run.view->run, figure)));
    rows.push_back(std::move(row));
  }
  return {table_block(chart.title, columns, std::move(rows))};
}

// Figures against a variable of the runs, one line for each figure and value of `series`.
Blocks figures_blocks(const Chart& chart, const Scene& scene) {
  std::map<std::string, std::map<double, double>> lines;
  std::vector<std::string> order;
  for (const ExperimentRun& run : scene.experiment.runs) {
    if (!matches_pattern(chart.of, run.name) || !scene.views.contains(run.name)) continue;
    for (const auto& [name, figure] : chart.figures) {
      const auto variable = run.variables.find(chart.series);
      std::string line = variable == run.variables.end() ? name : variable->second;
      if (variable != run.variables.end() && chart.figures.size() > 1) line += ", " + name;
      if (!lines.contains(line)) order.push_back(line);
      lines[line][std::atof(run.variables.at(chart.x).c_str())] =
          jobs::measure_in(scene.views.at(run.name).run, figure);
    }
  }
  std::vector<Series> series;
  for (const std::string& name : order) {
    Series one;
    one.name = name;
    one.dash = name == "UV" || name == "bm";
    for (const auto& [x, y] : lines[name]) one.x.push_back(x), one.y.push_back(y);
    series.push_back(std::move(one));
  }
  Json block = lines_block(chart.title, {chart.x, true}, {chart.y, chart.log}, series);
  block["points"] = true;
  return {block};
}

struct ChartKind {
  const char* name;
  Blocks (*blocks)(const Chart&, const Scene&);
};

constexpr ChartKind kChartKinds[] = {{"history", history_blocks},
                                     {"spectra", spectra_blocks},
                                     {"training", training_blocks},
                                     {"columns", columns_blocks},
                                     {"pruning", pruning_blocks},
                                     {"sweep", sweep_blocks},
                                     {"compare", compare_blocks},
                                     {"snapshots", snapshot_blocks},
                                     {"table", table_blocks},
                                     {"figures", figures_blocks},
                                     {"adapter-pruning", adapter_pruning_blocks},
                                     {"adapter-ranks", adapter_ranks_blocks}};

Blocks blocks_of(const Chart& chart, const Scene& scene) {
  for (const ChartKind& kind : kChartKinds)
    if (chart.kind == kind.name) return kind.blocks(chart, scene);
  throw InvalidArgument(message("chart: kind '", chart.kind, "' found, which is unknown"));
}

Json commands_block(const Experiment& experiment) {
  std::string text;
  for (const ExperimentRun& run : experiment.runs) {
    text += text.empty() ? "udv" : "\nudv";
    for (const std::string& word : run.command) text += " " + word;
  }
  return {{"kind", "text"}, {"title", "Commands"}, {"text", text}, {"code", true}};
}

}  // namespace

Json experiment_section(const jobs::Reproduced& reproduced) {
  const auto& [experiment, outcome, folder, seconds] = reproduced;
  const bool run = outcome.status != jobs::ClaimStatus::kNotRun;
  Json section = {{"id", experiment.name},
                  {"title", experiment.title},
                  {"where", experiment.where + ", " + experiment.name},
                  {"status", to_string(outcome.status)},
                  {"claim", experiment.claim},
                  {"open", run}};
  if (!experiment.rule.empty()) section["rule"] = experiment.rule;
  if (!outcome.note.empty()) section["note"] = outcome.note;
  section["checks"] = Json::array();
  for (const jobs::CheckResult& check : outcome.checks)
    section["checks"].push_back({{"name", check.name},
                                 {"ours", check.ours},
                                 {"wanted", check.wanted},
                                 {"paper", check.paper},
                                 {"ok", check.ok}});
  section["blocks"] = Json::array();
  if (!run) return section;
  const Views views = read_views(experiment, folder);
  const Scene scene{experiment, views, folder};
  for (const Chart& chart : experiment.charts)
    for (Json& block : blocks_of(chart, scene)) section["blocks"].push_back(std::move(block));
  section["blocks"].push_back(commands_block(experiment));
  return section;
}

}  // namespace udv::report

// SPDX-License-Identifier: MIT
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "completion_section.hpp"
#include "core/require.hpp"
#include "io/json_file.hpp"
#include "jobs/run_files.hpp"
#include "udv/jobs/complete.hpp"
#include "udv/jobs/ptychography.hpp"
#include "udv/report/terminal.hpp"

namespace udv::report {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

struct Figure {
  const char* key;
  const char* shown;
};

// What people look for, in this order.
constexpr Figure kFigures[] = {{"rank", "rank"},
                               {"relative_residual", "relative residual"},
                               {"relative_error", "relative error"},
                               {"test_rmse", "test rmse"},
                               {"held_out_residual", "held-out residual"},
                               {"amplitude_residual", "amplitude residual"},
                               {"test_mae", "test mae"},
                               {"test_r2", "test R²"},
                               {"test_loss", "test loss"},
                               {"test_accuracy", "test accuracy"},
                               {"perplexity_before", "perplexity before"},
                               {"perplexity", "perplexity"},
                               {"tokens_per_second", "tokens/s"},
                               {"stable_rank", "stable rank"},
                               {"rank_99", "rank at 99 % energy"},
                               {"live_width", "live neurons"},
                               {"parameters", "parameters"},
                               {"blocks_kept", "blocks left"},
                               {"iterations", "iterations"},
                               {"runs", "runs"}};

std::string shown(double value) {
  const bool whole = value == std::floor(value) || std::abs(value) >= 1e4;
  return whole && std::abs(value) < 1e9 ? fmt::format("{:.0f}", value)
                                        : fmt::format("{:.4g}", value);
}

std::string method_of(const RunView& run) {
  const std::string method = run.text("method"), variant = run.text("variant");
  return method.empty() ? variant : method;
}

// A sentence; runs of version 0.1 have one word.
std::string verdict_of(const RunView& run) {
  if (const std::string sentence = run.text("verdict"); !sentence.empty()) return sentence;
  const auto at = run.run.find("certificate");
  if (at == run.run.end() || !at->is_object()) return "";
  const auto verdict = at->find("verdict");
  return verdict != at->end() && verdict->is_string() ? verdict->get<std::string>() : "";
}

// Of a run that goes on: where it stands.
void add_live_facts(const Json& live, Facts& facts) {
  if (live.contains("command")) facts.emplace_back("command", live.value("command", ""));
  for (const char* key : {"iteration", "objective", "rank"})
    if (live.contains(key) && live[key].is_number())
      facts.emplace_back(key, shown(live[key].get<double>()));
}

// "9040 → 2259" where run.json has such a pair.
std::string before_and_after(const Json& run, const char* key) {
  const auto at = run.find(key);
  if (at == run.end() || !at->is_object()) return "";
  const auto before = at->find("before"), after = at->find("after");
  const bool pair =
      before != at->end() && after != at->end() && before->is_number() && after->is_number();
  return pair ? shown(before->get<double>()) + " → " + shown(after->get<double>()) : "";
}

Facts facts_of(const RunView& run) {
  Facts facts;
  if (run.run.empty() && run.live.is_object()) add_live_facts(run.live, facts);
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, text);
  };
  const bool answered = is_completion(run);
  add("command", run.text("command"));
  add(run.text("method").empty() ? "variant" : "method", method_of(run));
  add("optimizer", run.text("optimizer"));
  for (const Figure& figure : kFigures)
    if (answered && std::string_view(figure.key) != "iterations")
      continue;  // the answer has said it
    else if (const auto value = run.number(figure.key))
      add(figure.shown, shown(*value));
    else
      add(figure.shown, before_and_after(run.run, figure.key));
  if (!answered) add("verdict", verdict_of(run));
  if (run.text("verdict").empty()) add("stopped", run.text("stop_reason"));
  if (const auto seconds = run.number("seconds")) add("time", duration(*seconds));
  if (const auto seed = run.number("seed")) add("seed", shown(*seed));
  add("udv", run.text("udv"));
  return facts;
}

// A number that cannot be given stands for a setting that was not set.
bool is_unset(OptionTable& table, const std::string& name, const Json& value) {
  const Option* const option = table.find(name);
  return option != nullptr && value.is_number() && option->holds && !option->special &&
         !option->holds(value.get<double>());
}

Facts settings_of(const RunView& run) {
  Facts facts;
  OptionTable table;
  if (run.text("command") == "complete") table = table_of<jobs::CompleteOptions>();
  if (run.text("command") == "ptycho") table = table_of<jobs::PtychographyJobOptions>();
  const auto config = run.run.find("config");
  if (config == run.run.end() || !config->is_object()) return facts;
  for (const auto& [name, value] : config->items())
    if (!is_unset(table, name, value))
      facts.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  return facts;
}

void append(std::vector<Json> more, Json& blocks) {
  for (Json& block : more) blocks.push_back(std::move(block));
}

Json run_blocks(const RunView& run, const Detail& detail) {
  const std::vector<ChartRun> alone{{&run, run.name}};
  const bool training = run.run.contains("test_loss");
  Json blocks = Json::array();
  const bool completion = is_completion(run);
  if (completion) {
    append(completion_blocks(run, detail), blocks);
    blocks.push_back(facts_block("Run", facts_of(run)));
  }
  const bool microscope = run.text("command") == "ptycho" && run.has("raw.png");
  const bool pictured = microscope && detail.pictures;
  if (pictured) append(microscope_blocks(run), blocks);
  append(training_answer(run), blocks);
  append(sweep_tables(run), blocks);
  if (blocks.empty() || microscope) blocks.push_back(facts_block("", facts_of(run)));
  const bool answered = !completion && blocks.front().value("kind", "") == "text";
  if (completion)
    append(walk_chart("Walk in the rank", run), blocks);
  else if (training)
    append(training_charts(alone, detail), blocks);
  else
    append(history_chart("Objective", alone, "objective", true, detail), blocks);
  append(
      spectra_chart(training ? "Singular values of UD" : "Singular values", alone, false, detail),
      blocks);
  if (!training && !completion)
    append(history_chart("Live columns", alone, "rank", false, detail), blocks);
  append(columns_chart("Columns over time", run, detail), blocks);
  append(pruning_chart("Pruning", alone), blocks);
  append(history_chart("Perplexity", alone, "perplexity", true, detail), blocks);
  append(adapter_pruning_chart("Perplexity after pruning", alone), blocks);
  append(adapter_ranks_map("Ranks kept", run), blocks);
  if (detail.pictures) append(picture_blocks(run), blocks);
  if (answered) blocks.push_back(facts_block("Run", facts_of(run)));
  const Facts settings = settings_of(run);
  if (!settings.empty()) blocks.push_back(facts_block("Settings", settings));
  if (!pictured) append(warning_blocks(run), blocks);
  return blocks;
}

// Adapters of one rank belong together: LoRA dashed, LoRA-UDV solid. Other runs have colours of
// their own.
class AdapterColors {
 public:
  int of(const RunView& run) {
    const auto rank = run.number("rank");
    if (run.text("command") != "lora" || !rank) return -1;
    return colors_.try_emplace(*rank, static_cast<int>(colors_.size())).first->second;
  }

 private:
  std::map<double, int> colors_;
};

std::vector<std::string> overview_columns(const std::vector<RunView>& runs,
                                          std::vector<Figure>& figures) {
  std::vector<std::string> columns{"run", "command", "method"};
  for (const Figure& figure : kFigures)
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const RunView& run) { return run.number(figure.key).has_value(); })) {
      figures.push_back(figure);
      columns.push_back(figure.shown);
    }
  columns.push_back("time");
  return columns;
}

}  // namespace

Detail detail_for(std::size_t runs) {
  constexpr std::size_t kFew = 8;
  Detail detail;
  if (runs <= kFew) return detail;
  detail.buckets = std::clamp<std::size_t>(12'000 / runs, 20, 130);
  detail.spectrum = std::clamp<std::size_t>(20'000 / runs, 20, 400);
  detail.frames = 0;
  detail.pictures = runs <= 4 * kFew;
  return detail;
}

Json run_section(const RunView& run, bool open, const Detail& detail) {
  try {
    return {{"id", run.name},
            {"title", run.name},
            {"where", run.folder.string()},
            {"open", open},
            {"blocks", run_blocks(run, detail)}};
  } catch (const Json::exception& error) {
    throw IoError(
        message(run.file(jobs::kRunFile).string(), ": damaged: ", io::detail::problem_of(error)));
  } catch (const std::out_of_range&) {
    throw IoError(message(run.folder.string(),
                          ": damaged: a table lacks a column, or an array "
                          "values, that belong to it"));
  }
}

Json overview_section(const std::vector<RunView>& runs, const Detail& detail) {
  std::vector<Figure> figures;
  const std::vector<std::string> columns = overview_columns(runs, figures);
  std::vector<Json> rows;
  std::vector<ChartRun> charts;
  AdapterColors colors;
  for (const RunView& run : runs) {
    Json row = Json::array({run.name, run.text("command"), method_of(run)});
    for (const Figure& figure : figures) {
      const auto value = run.number(figure.key);
      row.push_back(value ? shown(*value) : std::string());
    }
    const auto seconds = run.number("seconds");
    row.push_back(seconds ? duration(*seconds) : std::string());
    rows.push_back(std::move(row));
    charts.push_back({&run, run.name, colors.of(run)});
  }
  Json blocks = Json::array({table_block("Runs", columns, std::move(rows))});
  append(history_chart("Objective", charts, "objective", true, detail), blocks);
  append(history_chart("Validation loss", charts, "validation_loss", true, detail), blocks);
  append(history_chart("Test loss", charts, "test_loss", true, detail), blocks);
  append(history_chart("Test accuracy", charts, "test_accuracy", false, detail), blocks);
  append(spectra_chart("Singular values", charts, true, detail), blocks);
  append(pruning_chart("Pruning", charts), blocks);
  append(history_chart("Perplexity", charts, "perplexity", true, detail), blocks);
  append(adapter_pruning_chart("Perplexity after pruning", charts), blocks);
  return {{"id", "overview"}, {"title", "All runs"}, {"open", true}, {"blocks", blocks}};
}

}  // namespace udv::report

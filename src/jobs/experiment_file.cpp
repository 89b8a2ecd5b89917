// SPDX-License-Identifier: MIT
#include "jobs/experiment_file.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/require.hpp"
#include "io/toml_file.hpp"
#include "io/toml_section.hpp"

namespace udv::jobs {
namespace {

using io::detail::TomlSection;
using Lists = std::map<std::string, std::vector<std::string>>;
using Words = std::map<std::string, std::string>;

std::string text_or(const TomlSection& section, std::string_view key, std::string otherwise) {
  return section.text(key, "text").value_or(std::move(otherwise));
}

std::string required_text(const TomlSection& section, std::string_view key) {
  section.require_key(key);
  return text_or(section, key, "");
}

// "rank" is short for "/rank".
std::string pointer(const TomlSection& section, std::string_view key) {
  const std::string text = text_or(section, key, "");
  return text.empty() || text.starts_with('/') ? text : "/" + text;
}

const std::vector<std::string_view> kMeasureKeys{"of",    "figure", "divide-by",
                                                 "minus", "take",   "only"};

Measure measure_of(const TomlSection& section, const Measure& base = {}) {
  Measure measure = base;
  measure.of = text_or(section, "of", base.of);
  if (section.has("figure")) measure.figure = pointer(section, "figure");
  if (section.has("divide-by")) measure.divide_by = pointer(section, "divide-by");
  measure.minus = section.number("minus").value_or(base.minus);
  measure.take = text_or(section, "take", base.take);
  if (measure.take != "max" && measure.take != "min" && measure.take != "mean")
    section.refuse("take", "max, min or mean");
  if (measure.figure.empty()) section.require_key("figure");
  // only = { figure = "test_loss", of = "udv", times = 1.1 }: at most so many times that of udv
  if (const auto only = section.section("only", {"figure", "of", "times"})) {
    measure.only_figure = pointer(*only, "figure");
    measure.only_of = required_text(*only, "of");
    measure.only_times = only->number("times").value_or(1);
  } else if (section.has("of")) {
    measure.only_figure.clear();
  }
  return measure;
}

std::vector<std::string_view> with(std::vector<std::string_view> keys,
                                   std::initializer_list<std::string_view> more) {
  keys.insert(keys.end(), more);
  return keys;
}

// at-most = 1e-9, or at-most = { of = "bm-*", take = "min", times = 0.1 }
Check check_of(const TomlSection& section) {
  Check check;
  check.text = required_text(section, "text");
  check.value = measure_of(section);
  check.paper = text_or(section, "paper", "");
  for (const char* relation : {"at-most", "at-least", "equals"}) {
    if (!section.has(relation)) continue;
    check.relation = relation;
    if (section.is_table(relation)) {
      const auto other = *section.section(relation, with(kMeasureKeys, {"times"}));
      check.other = measure_of(other, check.value);
      check.times = other.number("times").value_or(1);
    } else {
      check.number = *section.number(relation);
    }
  }
  if (check.relation.empty()) section.refuse("at-most", "at-most, at-least or equals");
  return check;
}

Chart chart_of(const TomlSection& section) {
  Chart chart;
  chart.kind = required_text(section, "kind");
  const std::vector<std::string>& kinds = chart_kinds();
  if (std::find(kinds.begin(), kinds.end(), chart.kind) == kinds.end()) {
    std::string names;
    for (const auto& kind : kinds) names += (names.empty() ? "" : ", ") + kind;
    section.refuse("kind", names);
  }
  chart.title = text_or(section, "title", "");
  chart.of = text_or(section, "of", "*");
  chart.y = text_or(section, "y", "");
  chart.x = text_or(section, "x", "");
  chart.series = text_or(section, "series", "");
  chart.before = text_or(section, "before", "");
  chart.after = text_or(section, "after", "");
  chart.log = text_or(section, "scale", "log") == "log";
  for (const TomlSection& figure : section.sections("figures", with(kMeasureKeys, {"name"})))
    chart.figures.emplace_back(required_text(figure, "name"), measure_of(figure));
  return chart;
}

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

// Stays where it is put: no way up, no folders within.
bool is_folder_name(const std::string& name) {
  return !name.empty() && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
         });
}

// Every {word} of the text replaced by its value; other braces stay.
std::string filled(const TomlSection& section, std::string_view key, const std::string& text,
                   const Words& words) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at);
    const size_t close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) {
      result += text.substr(at);
      break;
    }
    result += text.substr(at, open - at);
    const std::string word = text.substr(open + 1, close - open - 1);
    if (!is_word(word)) {
      result += '{';
      at = open + 1;
      continue;
    }
    const auto value = words.find(word);
    require<IoError>(value != words.end(), section.where(key), ": {", word,
                     "} found, the name of a value expected");
    result += value->second;
    at = close + 1;
  }
  return result;
}

// All combinations of the values of `names`, the first one changing slowest.
std::vector<Words> combinations(const TomlSection& section, const Lists& lists,
                                const std::vector<std::string>& names, const Words& fixed) {
  std::vector<Words> all{fixed};
  for (const std::string& name : names) {
    const auto values = lists.find(name);
    require<IoError>(values != lists.end(), section.where("over"), ": ", name,
                     " found, the name of a value expected");
    std::vector<Words> longer;
    for (const Words& words : all)
      for (const std::string& value : values->second) {
        longer.push_back(words);
        longer.back()[name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void add_runs(const TomlSection& section, const Lists& lists, const ExperimentPaths& paths,
              int stage, std::vector<ExperimentRun>& runs) {
  Words fixed{{"data", paths.data}, {"runs", paths.runs}};
  for (const auto& [name, values] : lists)
    if (values.size() == 1) fixed[name] = values.front();
  for (Words& words : combinations(section, lists, section.texts("over"), fixed)) {
    const auto fill = [&](std::string_view key) {
      return filled(section, key, text_or(section, key, ""), words);
    };
    section.require_key("name");
    section.require_key("command");
    ExperimentRun run;
    run.name = fill("name");
    require<IoError>(is_folder_name(run.name), section.where("name"), ": '", run.name,
                     "' found, letters, digits, '.', '-' and '_' expected");
    run.label = section.has("label") ? fill("label") : run.name;
    run.color = fill("color");
    run.spec = fill("spec");
    words["spec"] = paths.runs + "/" + run.name + ".toml";
    // Filled word by word: folders may have blanks in their names.
    for (const std::string& word : split_words(text_or(section, "command", "")))
      run.command.push_back(filled(section, "command", word, words));
    run.variables = words;
    run.stage = stage;
    runs.push_back(std::move(run));
  }
}

// [values], and what [quick] or [full] say instead.
Lists values_of(const TomlSection& top, bool quick) {
  Lists lists;
  for (const char* part : {"values", quick ? "quick" : "full"})
    for (auto& [name, values] : top.lists(part)) lists[name] = values;
  return lists;
}

}  // namespace

const std::vector<std::string>& chart_kinds() {
  static const std::vector<std::string> kinds{
      "history", "spectra",   "training", "columns", "pruning",         "sweep",
      "compare", "snapshots", "table",    "figures", "adapter-pruning", "adapter-ranks"};
  return kinds;
}

Experiment parse_experiment(const std::string& name, const std::string& path,
                            const std::string& text, const ExperimentPaths& paths) {
  const toml::table table = io::detail::parse_toml(path, text);
  const TomlSection top(path, "", table,
                        {"title", "where", "claim", "rule", "component", "needs", "seconds",
                         "values", "quick", "full", "runs", "checks", "charts"});
  Experiment experiment;
  experiment.name = name;
  experiment.title = required_text(top, "title");
  experiment.where = required_text(top, "where");
  experiment.claim = required_text(top, "claim");
  experiment.rule = text_or(top, "rule", "");
  experiment.component = text_or(top, "component", "");
  experiment.needs = top.texts("needs");
  if (const auto seconds = top.section("seconds", {"full", "quick"})) {
    experiment.seconds_full = seconds->number("full").value_or(0);
    experiment.seconds_quick = seconds->number("quick").value_or(0);
  }
  const Lists lists = values_of(top, paths.quick);
  int stage = 0;
  for (const TomlSection& run :
       top.sections("runs", {"over", "name", "label", "color", "spec", "command"}))
    add_runs(run, lists, paths, stage++, experiment.runs);
  for (const TomlSection& check : top.sections(
           "checks", with(kMeasureKeys, {"text", "paper", "at-most", "at-least", "equals"})))
    experiment.checks.push_back(check_of(check));
  for (const TomlSection& chart : top.sections("charts", {"kind", "title", "of", "y", "x", "series",
                                                          "before", "after", "scale", "figures"}))
    experiment.charts.push_back(chart_of(chart));
  return experiment;
}

}  // namespace udv::jobs

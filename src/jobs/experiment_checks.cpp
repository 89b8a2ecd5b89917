// SPDX-License-Identifier: MIT
#include "jobs/experiment_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/pattern.hpp"
#include "jobs/run_files.hpp"
#include "jobs/run_reader.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using Json = io::detail::OrderedJson;
using Runs = std::map<std::string, Json>;  // run.json by name

Runs read_runs(const Experiment& experiment, const fs::path& folder) {
  Runs runs;
  for (const ExperimentRun& run : experiment.runs)
    if (fs::exists(folder / run.name / kRunFile))
      runs.emplace(run.name, read_run_folder(folder / run.name).run);
  return runs;
}

// NaN where there is no such figure; 0 past the end of a list: a spectrum that has ended.
double figure_in(const Json& run, const std::string& pointer) {
  const Json::json_pointer path(pointer);
  if (run.contains(path)) {
    const Json& value = run[path];
    return value.is_number() ? value.get<double>() : NAN;
  }
  const Json::json_pointer parent = path.parent_pointer();
  return run.contains(parent) && run[parent].is_array() ? 0 : NAN;
}

double value_of(const Runs& runs, const Measure& measure);

bool counts(const Runs& runs, const std::string& name, const Json& run, const Measure& measure) {
  if (!matches_pattern(measure.of, name)) return false;
  if (measure.only_figure.empty()) return true;
  Measure others;
  others.of = measure.only_of;
  others.figure = measure.only_figure;
  others.take = "mean";
  return figure_in(run, measure.only_figure) <= measure.only_times * value_of(runs, others);
}

double value_of(const Runs& runs, const Measure& measure) {
  std::vector<double> values;
  for (const auto& [name, run] : runs)
    if (counts(runs, name, run, measure)) values.push_back(measure_in(run, measure));
  if (values.empty() ||
      std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return NAN;
  if (measure.take == "max") return *std::max_element(values.begin(), values.end());
  if (measure.take == "min") return *std::min_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

CheckResult apply(const Check& check, const Runs& runs) {
  const double ours = value_of(runs, check.value);
  const double reference = check.other ? value_of(runs, *check.other) : check.number;
  const double bound = check.times * reference;
  CheckResult result;
  result.name = check.text;
  result.paper = check.paper;
  result.ours = figure_text(ours);
  const bool at_most = check.relation == "at-most", at_least = check.relation == "at-least";
  const char* const sign = at_most ? "\u2264" : at_least ? "\u2265" : "=";
  result.wanted = fmt::format("{} {}", sign, figure_text(bound));
  if (check.other && check.times != 1)
    result.wanted += fmt::format(" ({:g} \u00d7 {})", check.times, figure_text(reference));
  result.ok = at_most ? ours <= bound : at_least ? ours >= bound : ours == bound;
  return result;
}

}  // namespace

double measure_in(const Json& run, const Measure& measure) {
  double value = figure_in(run, measure.figure);
  if (!measure.divide_by.empty()) value /= figure_in(run, measure.divide_by);
  return value - measure.minus;
}

std::string figure_text(double value) {
  return std::isnan(value) ? "nothing" : fmt::format("{:.4g}", value);
}

ExperimentOutcome evaluate(const Experiment& experiment, const fs::path& folder) {
  const Runs runs = read_runs(experiment, folder);
  ExperimentOutcome outcome;
  if (runs.size() < experiment.runs.size() || runs.empty()) {
    outcome.note = fmt::format("{} of {} runs are there", runs.size(), experiment.runs.size());
    return outcome;
  }
  bool all = true;
  for (const Check& check : experiment.checks) {
    outcome.checks.push_back(apply(check, runs));
    all = all && outcome.checks.back().ok;
  }
  for (const auto& [name, run] : runs) {
    const double seconds = figure_in(run, "/seconds");
    outcome.seconds += std::isnan(seconds) ? 0 : seconds;
  }
  outcome.status = all ? ClaimStatus::kSeen : ClaimStatus::kNotSeen;
  return outcome;
}

std::string_view to_string(ClaimStatus status) {
  if (status == ClaimStatus::kSeen) return "seen";
  return status == ClaimStatus::kNotSeen ? "not seen" : "not run";
}

}  // namespace udv::jobs

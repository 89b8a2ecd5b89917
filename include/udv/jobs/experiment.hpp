// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"

namespace udv::jobs {

/// One number out of the run.json files of some runs: a figure, divided by another one, less a
/// constant, and of all runs the largest, smallest or mean.
struct Measure {
  std::string of = "*";      ///< names of runs, * for any text
  std::string figure;        ///< JSON pointer, "/spectrum/3"; past the end of a list is 0
  std::string divide_by;     ///< another one, or nothing
  double minus = 0;          ///< subtracted after the division
  std::string take = "max";  ///< max, min, mean
  /// Only runs whose `only_figure` is at most `only_times` its mean over `only_of`; all where
  /// empty.
  std::string only_figure, only_of;
  double only_times = 1;
};

/// A rule on numbers: `value` at most, at least or equal to `number`, or to `times` another
/// measure.
struct Check {
  std::string text;
  Measure value;
  std::string relation;  ///< at-most, at-least, equals
  double number = 0;
  std::optional<Measure> other;
  double times = 1;
  std::string paper;  ///< what the paper says, for people
};

/// A chart or table of an experiment; which members count depends on the kind.
struct Chart {
  std::string kind, title, of = "*";
  std::string y, x, series;  ///< history: column; figures: variables of the runs
  std::vector<std::pair<std::string, Measure>> figures;  ///< figures, table: name and figure
  std::string before, after;                             ///< compare: RUN/FILE.png
  bool log = true;
};

/// The names that `Chart::kind` may have.
UDV_EXPORT const std::vector<std::string>& chart_kinds();

/// One command of udv and its place in the charts.
struct ExperimentRun {
  std::string name, label, color;
  std::vector<std::string> command;
  std::string spec;  ///< text of the TOML file that {spec} names, for udv sweep
  std::map<std::string, std::string> variables;
  int stage = 0;  ///< runs of a later stage need those of earlier ones
};

/// A figure or table of the paper: what it claims, the runs that check it and the rule.
struct Experiment {
  std::string name, title, where, claim, rule, component;
  std::vector<std::string> needs;  ///< files in the folder of the data sets
  double seconds_full = 0, seconds_quick = 0;
  std::vector<ExperimentRun> runs;
  std::vector<Check> checks;
  std::vector<Chart> charts;
};

/// Whether our numbers show what the paper claims.
enum class ClaimStatus { kSeen, kNotSeen, kNotRun };
UDV_EXPORT std::string_view to_string(ClaimStatus status);

/// The result of one check, as text.
struct CheckResult {
  std::string name, ours, wanted, paper;
  bool ok = false;
};

/// The results of all checks of an experiment.
struct ExperimentOutcome {
  ClaimStatus status = ClaimStatus::kNotRun;
  std::string note;  ///< why it was not run
  std::vector<CheckResult> checks;
  double seconds = 0;  ///< of all runs together
};

}  // namespace udv::jobs

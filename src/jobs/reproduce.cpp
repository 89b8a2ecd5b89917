// SPDX-License-Identifier: MIT
#include "udv/jobs/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/require.hpp"
#include "jobs/experiment_checks.hpp"
#include "jobs/experiment_file.hpp"
#include "jobs/experiment_runs.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kSelf = "/proc/self/exe";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- which experiments

/// Name and TOML text: of a built-in experiment, or of a file.
struct Source {
  std::string name, path, text;
};

std::vector<Source> all_sources() {
  std::vector<Source> sources;
  for (const BuiltInExperiment& own : built_in_files())
    sources.push_back({own.name, fmt::format("experiments/{}.toml", own.name), own.text});
  // Figures by number first: fig1-..., fig2-..., fig-...
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
    const auto order = [](std::string name) {
      std::replace(name.begin(), name.end(), '-', '~');
      return name;
    };
    return order(a.name) < order(b.name);
  });
  return sources;
}

[[noreturn]] void refuse_name(const std::string& name, const std::vector<Source>& known) {
  std::vector<std::string> names;
  for (const Source& source : known) names.push_back(source.name);
  throw OptionError("names", fmt::format("'{}' found, all, a TOML file or one of {} expected{}",
                                         name, fmt::join(names, ", "), did_you_mean(name, names)));
}

std::vector<Source> chosen(const std::vector<std::string>& names) {
  if (names.empty())
    throw OptionError("names", "nothing found, names of experiments, TOML files or all expected");
  const std::vector<Source> known = all_sources();
  std::vector<Source> sources;
  for (const std::string& name : names) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const Source& source) { return source.name == name; });
    if (name == "all")
      sources.insert(sources.end(), known.begin(), known.end());
    else if (at != known.end())
      sources.push_back(*at);
    else if (name.ends_with(".toml"))
      sources.push_back({fs::path(name).stem().string(), name, io::read_bytes(name)});
    else
      refuse_name(name, known);
  }
  return sources;
}

std::string data_folder(const ReproduceOptions& options) {
  const char* const variable = std::getenv("UDV_DATA");
  if (!options.data.empty()) return options.data;
  return variable != nullptr ? variable : "";
}

std::vector<Experiment> parse(const std::vector<Source>& sources, const ReproduceOptions& options,
                              const fs::path& out) {
  std::vector<Experiment> experiments;
  for (const Source& source : sources) {
    const ExperimentPaths paths{data_folder(options), (out / source.name).string(), options.quick};
    experiments.push_back(parse_experiment(source.name, source.path, source.text, paths));
  }
  return experiments;
}

// ---- what runs them

// Empty where there is none.
fs::path find_on_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    std::error_code ignored;
    if (end > 0 && fs::is_regular_file(candidate, ignored)) return candidate;
    rest.erase(0, std::min(end + 1, rest.size()));
  }
  return {};
}

fs::path program_of(const ReproduceOptions& options) {
  if (!options.program.empty()) return options.program;
  std::error_code unknown;
  const std::string self = fs::read_symlink(kSelf, unknown).filename().string();
  if (self == "udv" || self == "udv-deep") return kSelf;
  const fs::path found = find_on_path("udv");
  require<IoError>(!found.empty(), "udv: no such program on PATH; it runs the experiments");
  return found;
}

// The LibTorch component is a program beside udv.
bool has_component(const std::string& component, const fs::path& program) {
  std::error_code unknown;
  const fs::path real = fs::canonical(program, unknown);
  return component.empty() ||
         (component == "deep" && fs::exists(real.parent_path() / "udv-deep", unknown));
}

// ---- claims.md

std::string claim_text(const Experiment& experiment, const ExperimentOutcome& outcome) {
  std::string text =
      fmt::format("\n### {}\n**{}** ({}, `{}`): {}\n", experiment.title, to_string(outcome.status),
                  experiment.where, experiment.name, experiment.claim);
  if (!outcome.note.empty()) text += fmt::format("\n{}.\n", outcome.note);
  if (outcome.checks.empty()) return text;
  text += "\n| check | ours | wanted | the paper | |\n|---|---|---|---|---|\n";
  for (const CheckResult& check : outcome.checks)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", check.name, check.ours, check.wanted,
                        check.paper, check.ok ? "yes" : "**no**");
  return text;
}

/// Tells the front end how many runs of an experiment are done.
class RunsProgress {
 public:
  RunsProgress(Listener& listener, const Experiment& experiment) : listener_(listener) {
    listener_.begin({static_cast<Index>(experiment.runs.size())},
                    {experiment.name.c_str(), "", ""});
  }
  ~RunsProgress() { listener_.end(); }
  RunsProgress(const RunsProgress&) = delete;
  RunsProgress& operator=(const RunsProgress&) = delete;

  void tell(Index done) {
    IterationRecord record;
    record.iteration = done;
    record.seconds = seconds_since(start_);
    listener_.progress(record);
  }

 private:
  Listener& listener_;
  Clock::time_point start_ = Clock::now();
};

/// All experiments of one call, one after the other.
class Reproduction {
 public:
  Reproduction(const ReproduceOptions& options, Session& session)
      : options_(options), session_(session), program_(program_of(options)) {}

  ReproduceResult run(const std::vector<Experiment>& experiments) {
    RunFolder folder(session_.options().out);
    result_.folder = folder.path();
    result_.quick = options_.quick;
    std::string claims;
    for (const Experiment& experiment : experiments) {
      if (!run_one(experiment)) {
        result_.outcome = Outcome::kInterrupted;
        return std::move(result_);
      }
      claims += claim_text(experiment, result_.experiments.back().outcome);
    }
    io::write_atomically(folder.file("claims.md"), claims);
    folder.finish();
    return std::move(result_);
  }

 private:
  // False: interrupted.
  bool run_one(const Experiment& experiment) {
    const auto start = Clock::now();
    Reproduced one{experiment, {}, result_.folder / experiment.name, 0};
    one.outcome.note = obstacle(experiment, one.folder);
    if (one.outcome.note.empty()) {
      if (options_.fresh) forget_runs(experiment, one.folder);
      const RunsResult runs = solve(experiment, one.folder);
      if (runs.interrupted) return false;
      if (runs.error.empty())
        one.outcome = evaluate(experiment, one.folder);
      else
        one.outcome.note = "failed: " + runs.error;
      if (!runs.error.empty()) result_.outcome = Outcome::kLimited;
    }
    one.seconds = seconds_since(start);
    if (options_.finished) options_.finished(one);
    result_.experiments.push_back(std::move(one));
    return true;
  }

  // Why an experiment cannot be run here; "" where it can.
  std::string obstacle(const Experiment& experiment, const fs::path& folder) const {
    if (!has_component(experiment.component, program_))
      return fmt::format("needs the component {}", experiment.component);
    const std::string data = data_folder(options_);
    for (const std::string& file : experiment.needs) {
      if (data.empty()) return fmt::format("needs {} in $UDV_DATA, which is not set", file);
      if (!fs::exists(fs::path(data) / file)) return fmt::format("needs {} in {}", file, data);
    }
    const double limit = session_.options().time_limit;
    const bool late = limit > 0 && seconds_since(started_) > limit;
    if (late && !is_finished(experiment, folder))
      return fmt::format("the time limit of {:g} s was reached", limit);
    return "";
  }

  RunsResult solve(const Experiment& experiment, const fs::path& folder) {
    if (is_finished(experiment, folder)) return {};
    RunsProgress progress(session_.listener(), experiment);
    return run_commands(experiment,
                        {program_, folder, num_threads(), [&](Index done) { progress.tell(done); },
                         [&] { return session_.interrupted(); }});
  }

  const ReproduceOptions& options_;
  Session& session_;
  fs::path program_;
  ReproduceResult result_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void describe(OptionTable& table, ReproduceInput& input) {
  table.add_each("names", input.names, "Names of experiments, TOML files, or all")
      .is_input(false)
      .called("NAME");
}

void describe(OptionTable& table, ReproduceOptions& options) {
  table.group("Experiments");
  table.add("quick", options.quick, "Use smaller sizes: all experiments in ten minutes");
  table.add("fresh", options.fresh, "Repeat finished runs");
  table.add("data", options.data, "Folder with the data sets")
      .called("FOLDER")
      .default_is("$UDV_DATA");
}

Index ReproduceResult::count(ClaimStatus status) const {
  return std::count_if(experiments.begin(), experiments.end(),
                       [status](const Reproduced& one) { return one.outcome.status == status; });
}

ReproduceResult reproduce(const ReproduceInput& input, const ReproduceOptions& options,
                          Session& session) {
  const std::vector<Source> sources = chosen(input.names);
  require(session.has_folder(), "reproduce: a folder for the results expected in the session");
  const std::vector<Experiment> experiments = parse(sources, options, session.options().out);
  return Reproduction(options, session).run(experiments);
}

std::vector<Experiment> built_in_experiments(const ReproduceOptions& options) {
  return parse(all_sources(), options, "");
}

}  // namespace udv::jobs

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
#include "jobs/folder_lock.hpp"
#include "jobs/part.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kSelf = "/proc/self/exe";
constexpr const char* kClaims = "claims.md";
constexpr const char* kPage = "report.html";
constexpr const char* kClaimsStart = "\n### ";  // of every claim: this tells ours from other files
constexpr double kClaimsWait = 600;             // seconds, for other parts that write their claims

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
  const auto add = [&](const Source& source) {
    const bool there = std::any_of(sources.begin(), sources.end(), [&](const Source& other) {
      return other.name == source.name && other.text == source.text;
    });
    if (!there) sources.push_back(source);
  };
  for (const std::string& name : names) {
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const Source& source) { return source.name == name; });
    if (name == "all")
      std::for_each(known.begin(), known.end(), add);
    else if (at != known.end())
      add(*at);
    else if (name.ends_with(".toml"))
      add({fs::path(name).stem().string(), name, io::read_bytes(name)});
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

// ---- the folder

bool is_claims(const fs::path& file) {
  const std::string start = kClaimsStart;
  return fs::is_regular_file(file) && io::read_start(file, start.size()) == start;
}

// What earlier calls and other parts have left: folders of experiments, and what is made of them.
FolderRules rules_of(const Session& session, const std::vector<Experiment>& experiments) {
  FolderRules rules = session.folder_rules();
  const fs::path out = session.options().out;
  for (const Experiment& experiment : experiments) rules.own.insert(experiment.name);
  for (const Source& source : all_sources()) rules.own.insert(source.name);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(out, none))
    if (holds_runs(entry.path())) rules.own.insert(entry.path().filename().string());
  if (is_claims(out / kClaims)) rules.own.insert({kClaims, kPage});
  return rules;
}

// ---- claims.md

std::string claim_text(const Experiment& experiment, const ExperimentOutcome& outcome) {
  std::string text =
      fmt::format("{}{}\n**{}** ({}, `{}`): {}\n", kClaimsStart, experiment.title,
                  to_string(outcome.status), experiment.where, experiment.name, experiment.claim);
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

/// The experiments of one call, one after the other.
class Reproduction {
 public:
  Reproduction(const ReproduceOptions& options, Session& session)
      : options_(options),
        session_(session),
        part_(read_part(options.part)),
        program_(program_of(options)) {}

  ReproduceResult run(const std::vector<Experiment>& experiments) {
    result_.folder = session_.options().out;
    result_.quick = options_.quick;
    check_folder_rules(result_.folder, rules_of(session_, experiments));
    for (std::size_t i = 0; i < experiments.size(); ++i) {
      result_.experiments.push_back({experiments[i], {}, result_.folder / experiments[i].name, 0});
      if (part_.has(i) && !run_one(result_.experiments.back())) {
        result_.experiments.pop_back();
        result_.outcome = Outcome::kInterrupted;
        return std::move(result_);
      }
    }
    write_claims(experiments);
    return std::move(result_);
  }

 private:
  // False: interrupted.
  bool run_one(Reproduced& one) {
    const auto start = Clock::now();
    one.outcome.note = obstacle(one.experiment, one.folder);
    if (one.outcome.note.empty()) {
      const RunsResult runs = solve(one.experiment, one.folder);
      if (runs.interrupted) return false;
      if (runs.error.empty())
        one.outcome = evaluate(one.experiment, one.folder);
      else
        one.outcome.note = "failed: " + runs.error;
      if (!runs.error.empty()) result_.outcome = Outcome::kLimited;
    }
    one.seconds = seconds_since(start);
    if (options_.finished) options_.finished(one);
    return true;
  }

  // What is there of all parts: the last one to end finds everything.
  void write_claims(const std::vector<Experiment>& experiments) {
    FolderRules rules = rules_of(session_, experiments);
    rules.wait_seconds = kClaimsWait;
    RunFolder folder(result_.folder, rules);
    std::string claims;
    for (std::size_t i = 0; i < experiments.size(); ++i) {
      Reproduced& one = result_.experiments[i];
      if (!part_.has(i)) look_at(one);
      claims += claim_text(one.experiment, one.outcome);
    }
    io::write_atomically(folder.file(kClaims), claims);
    if (options_.page) options_.page(folder.file(kPage), result_);
    folder.finish();
  }

  // An experiment of another part.
  void look_at(Reproduced& one) const {
    const std::string missing = what_is_missing(one.experiment);
    if (is_finished(one.experiment, one.folder))
      one.outcome = evaluate(one.experiment, one.folder);
    else
      one.outcome.note = missing.empty() ? "not finished by its part" : missing;
  }

  // Why an experiment cannot be run here; "" where it can.
  std::string obstacle(const Experiment& experiment, const fs::path& folder) const {
    const std::string missing = what_is_missing(experiment);
    const double limit = session_.options().time_limit;
    const bool late = limit > 0 && seconds_since(started_) > limit;
    if (missing.empty() && late && !is_finished(experiment, folder))
      return fmt::format("the time limit of {:g} s was reached", limit);
    return missing;
  }

  std::string what_is_missing(const Experiment& experiment) const {
    if (!has_component(experiment.component, program_))
      return fmt::format("needs the component {}", experiment.component);
    const std::string data = data_folder(options_);
    for (const std::string& file : experiment.needs) {
      if (data.empty()) return fmt::format("needs {} in $UDV_DATA, which is not set", file);
      if (!fs::exists(fs::path(data) / file)) return fmt::format("needs {} in {}", file, data);
    }
    return "";
  }

  RunsResult solve(const Experiment& experiment, const fs::path& folder) {
    io::make_folder(folder);
    FolderLock lock;
    require<IoError>(lock.take(folder), folder.string(),
                     ": another run writes to this folder; wait for its end or take another one");
    if (options_.fresh) forget_runs(experiment, folder);
    if (is_finished(experiment, folder)) return {};
    RunsProgress progress(session_.listener(), experiment);
    return run_commands(experiment,
                        {program_, folder, num_threads(), [&](Index done) { progress.tell(done); },
                         [&] { return session_.interrupted(); }});
  }

  const ReproduceOptions& options_;
  Session& session_;
  Part part_;
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
  table
      .add("part", options.part,
           "Run only part I of N of the experiments; claims and page show what all parts have "
           "finished in the same folder")
      .called("I/N")
      .keeps_numbers();
}

Index ReproduceResult::count(ClaimStatus status) const {
  return std::count_if(experiments.begin(), experiments.end(),
                       [status](const Reproduced& one) { return one.outcome.status == status; });
}

ReproduceResult reproduce(const ReproduceInput& input, const ReproduceOptions& options,
                          Session& session) {
  const std::vector<Source> sources = chosen(input.names);
  read_part(options.part);  // checked before anything is read
  require(session.has_folder(), "reproduce: a folder for the results expected in the session");
  const std::vector<Experiment> experiments = parse(sources, options, session.options().out);
  return Reproduction(options, session).run(experiments);
}

std::vector<Experiment> built_in_experiments(const ReproduceOptions& options) {
  return parse(all_sources(), options, "");
}

}  // namespace udv::jobs

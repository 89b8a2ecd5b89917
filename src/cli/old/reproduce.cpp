// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/deep_program.hpp"
#include "cli/experiment_file.hpp"
#include "cli/experiment_runs.hpp"
#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "report/page.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;
using report::Experiment;
using report::Outcome;
using report::Status;
using Clock = std::chrono::steady_clock;

struct Flags {
  std::vector<std::string> names;
  bool list = false, quick = false, fresh = false;
  std::string data;
  CommonFlags common;
};

/// Name and TOML text: of the program's own experiments, or of a file.
struct Source {
  std::string name, path, text;
};

std::vector<Source> all_sources() {
  std::vector<Source> sources;
  for (const BuiltInExperiment& own : built_in_experiments())
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

std::string names_of(const std::vector<Source>& sources) {
  std::string names;
  for (const Source& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

std::vector<Source> chosen(const std::vector<std::string>& names) {
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
      throw CLI::ValidationError(
          fmt::format("'{}' found, all, a TOML file or one of {} expected", name, names_of(known)));
  }
  return sources;
}

std::string data_folder(const Flags& flags) {
  const char* const variable = std::getenv("UDV_DATA");
  return !flags.data.empty() ? flags.data : variable != nullptr ? variable : "";
}

Experiment read(const Source& source, const Flags& flags, const fs::path& out) {
  ExperimentPlace place;
  place.data = data_folder(flags);
  place.runs = (out / source.name).string();
  place.quick = flags.quick;
  return parse_experiment(source.name, source.path, source.text, place);
}

// Why an experiment cannot be run here; "" where it can.
std::string missing(const Experiment& experiment, const std::string& data) {
  const bool there =
      experiment.component.empty() || (experiment.component == "deep" && has_deep_program());
  if (!there) return fmt::format("needs the component {}", experiment.component);
  for (const std::string& file : experiment.needs) {
    if (data.empty()) return fmt::format("needs {} in $UDV_DATA, which is not set", file);
    if (!fs::exists(fs::path(data) / file)) return fmt::format("needs {} in {}", file, data);
  }
  return "";
}

ExitCode print_list(const Flags& flags) {
  for (const Source& source : all_sources()) {
    const Experiment e = read(source, flags, "");
    std::string needs = e.component.empty() ? "" : "component " + e.component;
    for (const std::string& file : e.needs) needs += (needs.empty() ? "" : ", ") + file;
    fmt::print("{:<20} full {:>11}, quick {:>11}   {}\n    {}\n", e.name,
               report::duration(e.seconds_full), report::duration(e.seconds_quick),
               needs.empty() ? "needs nothing" : "needs " + needs, e.claim);
  }
  return kDone;
}

const char* mark_of(Status status, bool terminal) {
  if (!terminal) return "";
  return status == Status::kSeen ? "\x1b[32m" : status == Status::kNotSeen ? "\x1b[31m" : "\x1b[2m";
}

void print_outcome(const Experiment& experiment, const Outcome& outcome, double seconds) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  fmt::print("  {}{:<9}{} {:<20} {}\n", mark_of(outcome.status, terminal),
             report::to_string(outcome.status), terminal ? "\x1b[0m" : "", experiment.name,
             outcome.note.empty() ? report::duration(seconds) : outcome.note);
  for (const report::CheckResult& check : outcome.checks)
    if (!check.ok)
      fmt::print("            {}: {} found, {} expected\n", check.name, check.ours, check.wanted);
  std::fflush(stdout);
}

// The claim, its status and the numbers behind it as Markdown.
std::string claim_text(const Experiment& experiment, const Outcome& outcome) {
  std::string text = fmt::format("\n### {}\n**{}** ({}, `{}`): {}\n", experiment.title,
                                 report::to_string(outcome.status), experiment.where,
                                 experiment.name, experiment.claim);
  if (!outcome.note.empty()) text += fmt::format("\n{}.\n", outcome.note);
  if (outcome.checks.empty()) return text;
  text += "\n| check | ours | wanted | the paper | |\n|---|---|---|---|---|\n";
  for (const report::CheckResult& check : outcome.checks)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", check.name, check.ours, check.wanted,
                        check.paper, check.ok ? "yes" : "**no**");
  return text;
}

/// All experiments of one call, one after the other.
class Reproduction {
 public:
  Reproduction(const Flags& flags, fs::path out) : flags_(flags), out_(std::move(out)) {}

  ExitCode run(const std::vector<Source>& sources) {
    std::vector<Experiment> experiments;
    for (const Source& source : sources) experiments.push_back(read(source, flags_, out_));
    for (const Experiment& experiment : experiments) {
      if (!run_one(experiment)) {
        say_interrupted(out_);
        return kInterrupted;
      }
    }
    write_page();
    return failed_ ? kNotConverged : kDone;
  }

 private:
  // False: interrupted.
  bool run_one(const Experiment& experiment) {
    const fs::path folder = out_ / experiment.name;
    const auto start = Clock::now();
    Outcome outcome;
    outcome.note = missing(experiment, data_folder(flags_));
    const double limit = flags_.common.time_limit;
    const std::chrono::duration<double> spent = start - started_;
    if (outcome.note.empty() && limit > 0 && spent.count() > limit &&
        !is_finished(experiment, folder))
      outcome.note = fmt::format("the time limit of {} was reached", report::duration(limit));
    if (outcome.note.empty()) {
      if (flags_.fresh) forget_runs(experiment, folder);
      const RunsResult result = solve(experiment, folder);
      if (result.interrupted) return false;
      if (result.error.empty())
        outcome = report::evaluate(experiment, folder);
      else
        outcome.note = "failed: " + result.error;
      failed_ = failed_ || !result.error.empty();
    }
    const std::chrono::duration<double> passed = Clock::now() - start;
    if (!flags_.common.quiet) print_outcome(experiment, outcome, passed.count());
    ++counts_[outcome.status];
    sections_.push_back(report::experiment_section(experiment, outcome, folder));
    claims_ += claim_text(experiment, outcome);
    return true;
  }

  RunsResult solve(const Experiment& experiment, const fs::path& folder) {
    if (is_finished(experiment, folder)) return {};
    const ProgressTotal total{static_cast<Index>(experiment.runs.size())};
    ProgressBar bar(total, flags_.common.quiet, {experiment.name.c_str(), "", ""});
    const auto start = Clock::now();
    const Observer draw = bar.observer();
    return run_commands(experiment, folder, num_threads(), [&](Index done) {
      IterationRecord record;
      record.iteration = done;
      record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      draw(record);
    });
  }

  void write_page() {
    const Index seen = counts_[Status::kSeen], missed = counts_[Status::kNotSeen];
    std::vector<std::string> summary{
        fmt::format("{} claims of the paper checked: {} seen, {} not seen; {} not run.",
                    seen + missed, seen, missed, counts_[Status::kNotRun]),
        "Each section gives the claim, the rule that decides it and our numbers; the commands "
        "at its end repeat the runs."};
    report::Json document = report::document_of(
        fmt::format("The paper, reproduced{}", flags_.quick ? " (quick sizes)" : ""),
        std::move(summary), std::move(sections_));
    document["counts"] = {
        {"seen", seen}, {"not seen", missed}, {"not run", counts_[Status::kNotRun]}};
    io::write_atomically(out_ / "report.html", report::page_of(document));
    io::write_atomically(out_ / "claims.md", claims_);
    if (!flags_.common.quiet)
      fmt::print("\n  {} seen, {} not seen, {} not run\n  {}\n", seen, missed,
                 counts_[Status::kNotRun], (out_ / "report.html").string());
  }

  const Flags& flags_;
  fs::path out_;
  std::vector<report::Json> sections_;
  std::map<Status, Index> counts_;
  std::string claims_;
  Clock::time_point started_ = Clock::now();
  bool failed_ = false;
};

ExitCode run_reproduce(Flags flags) {
  if (flags.list) return print_list(flags);
  if (flags.names.empty()) throw CLI::RequiredError("names of experiments, or all, or --list");
  const std::vector<Source> sources = chosen(flags.names);
  set_num_threads(flags.common.threads);
  // One place for all calls: what is finished is not run again.
  if (flags.common.out.empty())
    flags.common.out = flags.quick ? "udv-runs/reproduce-quick" : "udv-runs/reproduce";
  const fs::path out = make_run_folder(flags.common, "reproduce");
  catch_interrupts();
  return Reproduction(flags, out).run(sources);
}

}  // namespace

Run setup_reproduce(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(
      "reproduce", "Figures and tables of the paper by name: its claims against our numbers");
  command->add_option("names", flags->names, "Names of experiments, all, or TOML files")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--list", flags->list, "Name, claim, needs and time of each");
  command->add_flag("--quick", flags->quick, "Smaller sizes: all of them in ten minutes");
  command->add_flag("--fresh", flags->fresh, "Run again what is finished");
  command->add_option("--data", flags->data, "Folder with the data sets (default: $UDV_DATA)");
  flags->common.add_to(*command);
  return [flags] { return run_reproduce(*flags); };
}

}  // namespace udv::cli

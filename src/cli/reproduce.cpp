// SPDX-License-Identifier: MIT
#include "udv/jobs/reproduce.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "udv/report/report.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using jobs::ClaimStatus;

struct ReproduceSettings {
  jobs::ReproduceInput input;
  jobs::ReproduceOptions options;
  bool list = false;
  jobs::RunOptions run;
  TerminalOptions terminal;
};

void describe(OptionTable& table, ReproduceSettings& settings) {
  describe(table, settings.input);
  describe(table, settings.options);
  table.add("list", settings.list, "List the experiments: name, claim, needs and time of each");
  describe(table, settings.run);
  describe(table, settings.terminal);
  table.find("out")->default_is("udv-runs/reproduce, or udv-runs/reproduce-quick");
}

ExitCode print_list(const jobs::ReproduceOptions& options) {
  for (const jobs::Experiment& e : jobs::built_in_experiments(options)) {
    std::string needs = e.component.empty() ? "" : "component " + e.component;
    for (const std::string& file : e.needs) needs += (needs.empty() ? "" : ", ") + file;
    fmt::print("{:<20} full {:>11}, quick {:>11}   {}\n    {}\n", e.name,
               report::duration(e.seconds_full), report::duration(e.seconds_quick),
               needs.empty() ? "needs nothing" : "needs " + needs, e.claim);
  }
  return kDone;
}

const char* color_of(ClaimStatus status) {
  if (status == ClaimStatus::kSeen) return "\x1b[32m";
  return status == ClaimStatus::kNotSeen ? "\x1b[31m" : "\x1b[2m";
}

void print_outcome(const jobs::Reproduced& reproduced) {
  const auto& [experiment, outcome, folder, seconds] = reproduced;
  const bool colored = isatty(STDOUT_FILENO) == 1;
  fmt::print("  {}{:<9}{} {:<20} {}\n", colored ? color_of(outcome.status) : "",
             to_string(outcome.status), colored ? "\x1b[0m" : "", experiment.name,
             outcome.note.empty() ? report::duration(seconds) : outcome.note);
  for (const jobs::CheckResult& check : outcome.checks)
    if (!check.ok)
      fmt::print("            {}: {} found, {} expected\n", check.name, check.ours, check.wanted);
  std::fflush(stdout);
}

void print_counts(const jobs::ReproduceResult& result, const ReproduceSettings& settings) {
  if (settings.terminal.quiet) return;
  const std::filesystem::path page = result.folder / "report.html";
  fmt::print("\n  {} seen, {} not seen, {} not run\n  {}\n", result.count(ClaimStatus::kSeen),
             result.count(ClaimStatus::kNotSeen), result.count(ClaimStatus::kNotRun),
             settings.terminal.report ? page.string() : result.folder.string());
}

ExitCode run_reproduce(const ReproduceSettings& settings) {
  if (settings.list) return print_list(settings.options);
  jobs::RunOptions run = settings.run;
  // One place for all calls: what is finished is not run again.
  if (run.out.empty())
    run.out = settings.options.quick ? "udv-runs/reproduce-quick" : "udv-runs/reproduce";
  jobs::ReproduceOptions options = settings.options;
  options.program = "/proc/self/exe";
  if (!settings.terminal.quiet) options.finished = print_outcome;
  if (settings.terminal.report) options.page = report::write_reproduction;
  Terminal terminal("reproduce", settings.terminal, run);
  catch_interrupts();
  const jobs::ReproduceResult result = jobs::reproduce(settings.input, options, terminal.session());
  if (result.outcome != jobs::Outcome::kInterrupted) print_counts(result, settings);
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command reproduce_command() {
  Command command = plain_command(
      "reproduce", "Repeat figures and tables of the paper and check its claims", run_reproduce);
  command.takes_config = true;
  return command;
}

}  // namespace udv::cli

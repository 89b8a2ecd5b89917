// SPDX-License-Identifier: MIT
#include "cli/terminal.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "cli/interrupt.hpp"
#include "core/communicator.hpp"
#include "udv/report/report.hpp"

namespace udv::cli {
namespace {

jobs::RunOptions with_folder(jobs::RunOptions run, const std::string& command) {
  if (run.out.empty()) run.out = jobs::new_run_folder(command);
  if (!communicator().is_root()) run.out = "";  // rank 0 writes for all
  return run;
}

}  // namespace

void describe(OptionTable& table, TerminalOptions& options) {
  table.add("quiet", options.quiet, "Print only errors and warnings").keeps_numbers();
  table.add("report", options.report, "Write report.html").as_switch_word().keeps_numbers();
}

void warn(const std::string& text) {
  std::fputs(fmt::format("udv: warning: {}\n", text).c_str(), stderr);
}

void print_fact(const std::string& name, const std::string& value) {
  fmt::print("  {:<14} {}\n", name, value);
}

void Terminal::be_silent() {
  silent_ = options_.quiet = true;
}

Terminal::Terminal(std::string command, const TerminalOptions& options, jobs::RunOptions run)
    : command_(std::move(command)),
      options_(options),
      session_(with_folder(std::move(run), command_), this) {}

void Terminal::leave_report(const std::filesystem::path& folder) const {
  if (!options_.report || folder.empty()) return;
  for (const std::string& problem :
       report::write_report(folder / "report.html", "udv " + command_, {folder}))
    warn(problem);
}

ExitCode Terminal::exit_code(jobs::Outcome outcome, const std::filesystem::path& folder) const {
  if (outcome == jobs::Outcome::kDone) return kDone;
  if (outcome == jobs::Outcome::kLimited) return kNotConverged;
  if (silent_) return kInterrupted;
  const std::string hint =
      folder.empty() ? ""
                     : "; resume with the same command and --out " + folder.string() + " --resume";
  std::fputs(("udv: interrupted" + hint + "\n").c_str(), stderr);
  return kInterrupted;
}

void Terminal::begin(const jobs::ProgressTotal& total, const jobs::ProgressWords& words) {
  catch_interrupts();
  bar_.emplace(total, options_.quiet, words);
}

void Terminal::progress(const IterationRecord& record) {
  if (bar_) bar_->show(record);
}

void Terminal::end() {
  bar_.reset();
}

void Terminal::warning(const std::string& text) {
  if (!silent_) warn(text);
}

void Terminal::notice(const std::string& text) {
  if (!options_.quiet) fmt::print("  {}\n", text);
}

bool Terminal::interrupted() {
  return cli::interrupted();
}

}  // namespace udv::cli

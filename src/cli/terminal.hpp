// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/progress.hpp"
#include "udv/jobs/session.hpp"

namespace udv::cli {

/// Settings of what is printed and drawn, beside those of a job.
struct TerminalOptions {
  bool quiet = false;
  bool report = true;
};
void describe(OptionTable& table, TerminalOptions& options);

/// "udv: warning: ..." on standard error.
void warn(const std::string& text);

/// One line of a summary: a name, then what there is to say.
void print_fact(const std::string& name, const std::string& value);

/// The front end of jobs: progress bar, warnings, Ctrl-C, and what is left to do after a job.
class Terminal : public jobs::Listener {
 public:
  /// Results without a place get a new folder.
  Terminal(std::string command, const TerminalOptions& options, jobs::RunOptions run);

  jobs::Session& session() { return session_; }
  bool quiet() const { return options_.quiet; }
  /// From now on another process does the talking: nothing is printed, not even warnings.
  void be_silent();
  bool silent() const { return silent_; }

  /// report.html in the folder of a run, unless it is not wanted.
  void leave_report(const std::filesystem::path& folder) const;
  /// Says how to resume after Ctrl-C.
  ExitCode exit_code(jobs::Outcome outcome, const std::filesystem::path& folder) const;

  void begin(const jobs::ProgressTotal& total, const jobs::ProgressWords& words) override;
  void progress(const IterationRecord& record) override;
  void end() override;
  void warning(const std::string& text) override;
  void notice(const std::string& text) override;
  bool interrupted() override;

 private:
  std::string command_;
  TerminalOptions options_;
  bool silent_ = false;
  jobs::Session session_;
  std::optional<ProgressBar> bar_;
};

}  // namespace udv::cli

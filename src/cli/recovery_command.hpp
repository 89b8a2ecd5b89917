// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/run_folder.hpp"

namespace udv::cli {

/// Flags of every command.
struct CommonFlags {
  std::string out;
  std::uint64_t seed = 0;
  int threads = 0;
  bool resume = false;
  bool quiet = false;
  double time_limit = 0;

  void add_to(CLI::App& command);
};

/// Flags of the commands that recover a matrix.
struct RecoveryFlags {
  std::string method = "auto", step = "auto", alpha = "auto", scale = "auto", polish = "on";
  std::string start = "nothing", record = "log", shrinkage = "auto";
  Index max_rank = 0, max_iterations = 0;
  double init_norm = 1e-2, noise = 0, holdout = 0;
  std::string tolerance = "auto";

  void add_to(CLI::App& command);
  /// Throws CLI::ValidationError naming the flag where a value makes no sense.
  RecoverOptions options(std::uint64_t seed) const;
  /// Every setting as used, for run.json.
  void describe(std::map<std::string, io::Setting>& config) const;
};

/// `--shape ROWS,COLUMNS` as one word, so that it can stand anywhere and in a config file.
class ShapeFlag {
 public:
  void add_to(CLI::App& command, const char* description);
  /// Throws CLI::ValidationError where the text is no shape.
  std::optional<std::pair<Index, Index>> value() const;

 private:
  std::string text_;
};

/// Throws IoError unless the largest magnitude lies where squares neither overflow nor vanish.
void check_magnitude(const std::string& path, double largest);

/// A problem that a command has read, and what it wants to do with the answer.
struct RecoveryJob {
  std::string command;
  Problem problem;
  io::RunInfo info;
  /// Called before run.json is written: further figures and files.
  std::function<void(Recovery&, const std::filesystem::path& folder)> finish;
};

/// Solves, shows a progress bar, writes the run folder (checkpoint on Ctrl-C), prints the summary.
ExitCode run_recovery(RecoveryJob job, const CommonFlags& common, const RecoveryFlags& flags);

/// The folder of a run, made and found writable. Throws IoError naming it.
std::filesystem::path make_run_folder(const CommonFlags& common, const std::string& command);

/// "udv: warning: ..." on standard error.
void warn(const std::string& text);

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/common.hpp"
#include "cli/exit_code.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/run_folder.hpp"

namespace udv::cli {

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
  /// The gradient method alone is wanted: no polish, or a step of the caller's own.
  bool wants_gradient() const { return polish == "off" || step != "auto"; }
  /// Throws CLI::ValidationError naming a flag that an auto mode for intensities does not know.
  void check_for_intensities() const;
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

/// Throws IoError unless the largest magnitude lies between 1 / limit and limit, where squares
/// neither overflow nor vanish.
void check_magnitude(const std::string& path, double largest, double limit = 1e150);

/// Throws IoError naming the first value that is not finite.
void check_finite(const std::string& path, const io::ComplexArray& array);

/// A problem that a command has read, and what it wants to do with the answer.
template <typename Scalar>
struct BasicJob {
  std::string command;
  BasicProblem<Scalar> problem;
  io::RunInfo info;
  /// Used instead of recover() where given.
  std::function<BasicRecovery<Scalar>(const RecoverOptions&, const BasicHooks<Scalar>&)> solve;
  /// Called before run.json is written: further figures and files. The job is the one that runs.
  std::function<void(BasicRecovery<Scalar>&, BasicJob& job, const std::filesystem::path& folder)>
      finish;
  /// The folder of the results is known from here on.
  std::function<void(const std::filesystem::path& folder, BasicHooks<Scalar>& hooks)> prepare;
  /// More lines for the summary: name and value.
  std::vector<std::pair<std::string, std::string>> summary;
};

using RecoveryJob = BasicJob<double>;

/// Solves, shows a progress bar, writes the run folder (checkpoint on Ctrl-C), prints the summary.
template <typename Scalar>
ExitCode run_recovery(BasicJob<Scalar> job, const CommonFlags& common, const RecoveryFlags& flags);

}  // namespace udv::cli

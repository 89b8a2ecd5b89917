// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "udv/core/types.hpp"
#include "udv/jobs/experiment.hpp"

namespace udv::jobs {

/// How the runs of an experiment ended.
struct RunsResult {
  bool interrupted = false;
  std::string error;  ///< the first run that failed, and what it said
};

/// How the commands of an experiment are run.
struct RunsPlan {
  std::filesystem::path program, folder;
  int threads = 1;                      ///< of all processes together
  std::function<void(Index)> progress;  ///< told the number of runs done, ten times a second
  std::function<bool()> interrupted;    ///< asked a hundred times a second
};

/// Runs the commands of an experiment that have no result in `folder`/NAME yet, each in a process
/// of its own; stages one after the other. A run that was interrupted resumes from its checkpoint.
RunsResult run_commands(const Experiment& experiment, const RunsPlan& plan);

/// The folder has runs of an experiment in it.
bool holds_runs(const std::filesystem::path& folder);

/// Removes the folders of its runs. Throws IoError where one of them is something else.
void forget_runs(const Experiment& experiment, const std::filesystem::path& folder);

/// The experiment's runs are all there, made by these commands.
bool is_finished(const Experiment& experiment, const std::filesystem::path& folder);

}  // namespace udv::jobs

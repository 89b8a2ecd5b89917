// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "report/experiment.hpp"
#include "udv/core/types.hpp"

namespace udv::cli {

/// How the runs of an experiment ended.
struct RunsResult {
  bool interrupted = false;
  std::string error;  ///< the first run that failed, and what it said
};

/// Runs the commands of an experiment that have no result in `folder`/NAME yet, each in a process
/// of its own, `threads` at a time; stages one after the other. A run that was cut off goes on
/// where it was. `progress` is told the number of runs done, ten times a second.
RunsResult run_commands(const report::Experiment& experiment, const std::filesystem::path& folder,
                        int threads, const std::function<void(Index)>& progress);

/// Removes the folders of its runs. Throws IoError where one of them is something else.
void forget_runs(const report::Experiment& experiment, const std::filesystem::path& folder);

/// The experiment's runs are all there, made by these commands.
bool is_finished(const report::Experiment& experiment, const std::filesystem::path& folder);

}  // namespace udv::cli

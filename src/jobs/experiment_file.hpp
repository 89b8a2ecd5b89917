// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/jobs/experiment.hpp"

namespace udv::jobs {

/// The folders of an experiment, {data} and {runs} in its commands, and its size.
struct ExperimentPaths {
  std::string data;  ///< folder of the data sets
  std::string runs;
  bool quick = false;
};

/// The experiment that a TOML text describes (experiments/README.md). Throws IoError naming file
/// and line.
Experiment parse_experiment(const std::string& name, const std::string& path,
                            const std::string& text, const ExperimentPaths& paths);

/// Name and TOML text of an experiment that is part of the library.
struct BuiltInExperiment {
  const char* name;
  const char* text;
};

/// All of experiments/, in the order of their names.
const std::vector<BuiltInExperiment>& built_in_files();

}  // namespace udv::jobs

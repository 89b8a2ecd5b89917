// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/experiment.hpp"

namespace udv::cli {

/// Where an experiment's runs are and what they read: {data} and {runs} in its commands.
struct ExperimentPlace {
  std::string data;  ///< $UDV_DATA
  std::string runs;
  bool quick = false;
};

/// The experiment that a TOML text describes (experiments/README.md). Throws IoError naming file
/// and line.
report::Experiment parse_experiment(const std::string& name, const std::string& path,
                                    const std::string& text, const ExperimentPlace& place);

/// Name and text of an experiment that came with the program.
struct BuiltInExperiment {
  const char* name;
  const char* text;
};

/// In the order of the paper.
const std::vector<BuiltInExperiment>& built_in_experiments();

}  // namespace udv::cli

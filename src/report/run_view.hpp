// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blocks.hpp"
#include "jobs/run_reader.hpp"

namespace udv::report {

using jobs::NumberTable;

/// A run as charts and tables see it.
struct RunView : jobs::RunContents {
  std::string name;  ///< of the folder, as a person would call the run
  /// The history, thinned to the rows that charts of its columns need.
  NumberTable history;

  std::string text(const char* key) const;              ///< "" where there is none
  std::optional<double> number(const char* key) const;  ///< nothing where there is none
  std::vector<double> numbers(const char* key) const;   ///< empty where there are none
  /// No diagonal in the middle: the classical factorization, dashed in every chart.
  bool classical() const;
};

/// Throws IoError naming file and position where run.json is damaged.
RunView read_run(const std::filesystem::path& folder, std::string name);

/// The runs at or below the given folders (three levels), in order of their names. Throws IoError
/// where there is none.
std::vector<jobs::FoundRun> find_folders(const std::vector<std::filesystem::path>& folders);

}  // namespace udv::report

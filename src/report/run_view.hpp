// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blocks.hpp"

namespace udv::report {

/// Columns of numbers by name; a field that is no number is NaN.
using NumberTable = std::map<std::string, std::vector<double>>;

/// What a run has left in its folder, read again.
struct RunView {
  std::filesystem::path folder;
  std::string name;  ///< of the folder, as a person would call the run
  Json run;          ///< run.json; an empty object while it runs
  Json live;         ///< live.json of a run that goes on; null where there is none
  /// history.csv, thinned to the rows that charts of its columns need; of a run that goes on what
  /// live.json has of it.
  NumberTable history;

  std::string text(const char* key) const;              ///< "" where there is none
  std::optional<double> number(const char* key) const;  ///< nothing where there is none
  std::vector<double> numbers(const char* key) const;   ///< empty where there are none
  /// No diagonal in the middle: the classical factorization, dashed in every chart.
  bool classical() const;
};

/// Throws IoError naming file and position where run.json is damaged.
RunView read_run(const std::filesystem::path& folder, std::string name);

/// The folders with runs at or below the given ones (three levels), in order of their names.
/// Throws IoError where there is none.
std::vector<RunView> find_runs(const std::vector<std::filesystem::path>& folders);

NumberTable read_numbers(const std::filesystem::path& csv);

}  // namespace udv::report

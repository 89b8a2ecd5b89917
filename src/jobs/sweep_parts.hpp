// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "udv/core/types.hpp"
#include "udv/net/sweep.hpp"

namespace udv::jobs {

/// One line for each run that has ended.
inline constexpr const char* kSweepResults = "results.csv";

/// A share of a sweep: of `count` parts that are run apart, perhaps on other machines.
struct SweepPart {
  Index number = 1;  ///< from 1
  Index count = 1;

  bool is_all() const { return count == 1; }
  /// Of its own in the folder of the sweep; empty where it is all of it.
  std::string folder() const;
  /// Cells number, number + count, ... of the grid.
  std::vector<net::SweepCell> cells_of(const std::vector<net::SweepCell>& all) const;
};

/// "2/8"; empty is all. Throws OptionError.
SweepPart sweep_part(const std::string& text);

/// What parts and other folders of one sweep have finished.
struct FinishedRuns {
  std::map<std::string, net::SweepRow> rows;             ///< by key
  std::map<std::string, std::filesystem::path> folders;  ///< of them, by key

  /// Adds the rows of a folder that have these settings. Throws IoError where a run is there
  /// already with another result.
  void add(const std::filesystem::path& folder, const std::string& settings);
};

/// The folders with results of a sweep: those of its parts in this one, then itself.
std::vector<std::filesystem::path> result_folders(const std::filesystem::path& folder);

}  // namespace udv::jobs

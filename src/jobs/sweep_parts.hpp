// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "jobs/part.hpp"
#include "udv/net/sweep.hpp"

namespace udv::jobs {

/// One line for each run that has ended.
inline constexpr const char* kSweepResults = "results.csv";

/// The folder of a part in that of the sweep; empty where it is all of it.
std::string folder_of(const Part& part);
/// Cells number, number + count, ... of the grid.
std::vector<net::SweepCell> cells_of(const Part& part, const std::vector<net::SweepCell>& all);

/// What parts and other folders of one sweep have finished.
struct FinishedRuns {
  std::map<std::string, net::SweepRow> rows;             ///< by key
  std::map<std::string, std::filesystem::path> folders;  ///< of them, by key

  /// Adds the rows of a folder that have these settings. Throws IoError where a run is there
  /// already with another result.
  void add(const std::filesystem::path& folder, const std::string& settings);
};

/// Names of the folders of parts in the folder of a sweep.
std::vector<std::string> part_folders(const std::filesystem::path& folder);

/// The folders with results of a sweep: those of its parts in this one, then itself.
std::vector<std::filesystem::path> result_folders(const std::filesystem::path& folder);

}  // namespace udv::jobs

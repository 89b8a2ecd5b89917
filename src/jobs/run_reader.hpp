// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/json_file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/text_table.hpp"

namespace udv::jobs {

/// Columns of numbers by name; a field that is no number is NaN.
using NumberTable = std::map<std::string, std::vector<double>>;

/// What a run has left in its folder. Everything that reads run folders does it through this.
struct RunContents {
  std::filesystem::path folder;
  io::detail::OrderedJson run;   ///< run.json; an empty object while the run is not finished
  io::detail::OrderedJson live;  ///< live.json of an unfinished run; null where there is none
  /// Fields of tables that were left out because they are no numbers, one line for each file.
  mutable std::set<std::string> left_out;

  std::filesystem::path file(const std::string& name) const { return folder / name; }
  bool has(const std::string& name) const;
  /// Names of all plain files, sorted.
  std::vector<std::string> files() const;

  // Each throws IoError naming file and position where the file is damaged or not there.
  NumberTable columns(const std::string& csv) const;
  io::TextTable table(const std::string& csv) const { return io::TextTable(file(csv)); }
  std::vector<std::pair<std::string, io::Array>> arrays(const std::string& npz) const;

  /// All of history.csv; what live.json has of it while the run is not finished.
  NumberTable full_history() const;
};

/// Throws IoError naming file and position where run.json or live.json is damaged, or where
/// run.json has a format that this version does not know.
RunContents read_run_folder(const std::filesystem::path& folder);

/// A folder that holds a finished run, an unfinished one or a sweep.
bool is_run_folder(const std::filesystem::path& folder);

struct FoundRun {
  std::filesystem::path folder;
  std::string name;     ///< path below the folder that was searched, or its own name
  std::string problem;  ///< why it cannot be read; empty where nothing is known to be wrong
};

/// The runs at this folder or up to three levels below it, in order of their names; folders that
/// cannot be looked into are among them, with the problem. Throws IoError where it is no folder or
/// holds no run.
std::vector<FoundRun> find_run_folders(const std::filesystem::path& folder);

}  // namespace udv::jobs

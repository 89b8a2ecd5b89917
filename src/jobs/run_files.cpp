// SPDX-License-Identifier: MIT
#include "jobs/run_files.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "io/json_file.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using Json = io::detail::OrderedJson;

// Beside the files of the run in its staging folder.
constexpr const char* kWhole = ".whole.json";
constexpr const char* kGrowing = ".growing.json";
constexpr const char* kEarlier = ".earlier-run.json";

// Not there is fine too.
void remove_entry(const fs::path& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  require<IoError>(!failure, path.string(), ": cannot be removed: ", failure.message());
}

void move_into(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  if (fs::is_directory(to) || fs::is_directory(from)) remove_entry(to);
  fs::rename(from, to, failure);
  require<IoError>(!failure, to.string(), ": cannot be written: ", failure.message());
}

// Files that runs before format 1 may have left.
const std::vector<std::string>& unlisted_files() {
  static const std::vector<std::string> names{
      "U.npy",         "d.npy",           "V.npy",       "history.csv", "columns.npz",
      "center.npz",    "predictions.csv", "x.npy",       "pupil.npy",   "windows.npy",
      "amplitude.png", "phase.png",       "picture.png", "truth.png",   "model.safetensors"};
  return names;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos;
}

bool is_hidden(const std::string& name) {
  return name.starts_with('.');
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void write_names(const fs::path& path, const std::set<std::string>& names) {
  io::detail::write_json(path, {{"files", names}});
}

}  // namespace

std::string top_name(const std::string& name) {
  return name.substr(0, name.find('/'));
}

std::vector<std::string> files_of(const fs::path& run_json) {
  try {
    const Json run = io::detail::read_json(run_json);
    const auto list = run.find("files");
    if (list == run.end()) return unlisted_files();
    std::vector<std::string> names;
    for (const auto& name : *list)
      if (name.is_string() && is_plain_name(name)) names.push_back(name);
    return names;
  } catch (const IoError&) {
    return {};
  }
}

std::string command_of(const fs::path& run_json) {
  try {
    const Json run = io::detail::read_json(run_json);
    const auto command = run.find("command");
    return command != run.end() && command->is_string() ? command->get<std::string>() : "";
  } catch (const IoError&) {
    return {};
  }
}

std::vector<std::string> foreign_files(const fs::path& folder) {
  const fs::path growing = folder / io::kStagingFolder / kGrowing;
  std::vector<std::string> own{"live.json"};
  if (fs::exists(growing))
    for (const std::string& name : files_of(growing)) own.push_back(name);
  std::vector<std::string> names = names_in(folder);
  std::erase_if(names, [&](const std::string& name) {
    return is_hidden(name) || std::find(own.begin(), own.end(), name) != own.end();
  });
  return names;
}

void check_folder_of_runs(const fs::path& folder, FolderRules rules,
                          const std::vector<std::string>& runs,
                          const std::vector<std::string>& results) {
  for (const std::string& run : runs) {
    rules.own.insert(run);
    if (fs::exists(folder / run / kRunFile)) rules.own.insert(results.begin(), results.end());
  }
  check_folder_rules(folder, rules);
}

bool is_file_of_run(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string name = file.filename().string();
  if (name == kRunFile || name == "live.json") return true;
  for (const fs::path& list : {folder / kRunFile, folder / io::kStagingFolder / kGrowing}) {
    const std::vector<std::string> names =
        fs::exists(list) ? files_of(list) : std::vector<std::string>{};
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  }
  return false;
}

void note_growing(const fs::path& staging, const std::set<std::string>& growing) {
  std::set<std::string> tops;
  for (const std::string& name : growing) tops.insert(top_name(name));
  write_names(staging / kGrowing, tops);
}

void mark_whole(const fs::path& staging, const std::set<std::string>& names) {
  write_names(staging / kWhole, names);
}

bool is_whole(const fs::path& staging) {
  std::error_code failure;
  return fs::exists(staging / kWhole, failure);
}

void move_run(const fs::path& folder, const fs::path& staging) {
  const std::vector<std::string> listed = files_of(staging / kWhole);
  const std::set<std::string> names(listed.begin(), listed.end());
  const fs::path earlier = staging / kEarlier, run = folder / kRunFile;
  // Its own run.json is there already where only the end was cut off.
  const bool moved = names.contains(kRunFile) && !fs::exists(staging / kRunFile);
  if (fs::exists(run) && !moved && !fs::exists(earlier)) move_into(run, earlier);
  if (fs::exists(earlier)) {
    std::vector<std::string> old = files_of(earlier);
    old.push_back("report.html");
    for (const std::string& name : old)
      if (!names.contains(name)) remove_entry(folder / name);
  }
  for (const std::string& name : names_in(staging))
    if (!is_hidden(name) && name != kRunFile) move_into(staging / name, folder / name);
  if (fs::exists(staging / kRunFile)) move_into(staging / kRunFile, run);
  remove_entry(staging / kWhole);
  std::error_code ignored;
  fs::remove_all(staging, ignored);
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include "udv/jobs/run_folder.hpp"

#include <algorithm>
#include <vector>

#include "core/require.hpp"
#include "io/run_json.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFile = "run.json";

// Not there is fine too.
void remove_entry(const fs::path& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  require<IoError>(!failure, path.string(), ": cannot be removed: ", failure.message());
}

void move_into(const fs::path& from, const fs::path& to) {
  std::error_code failure;
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

// A name inside the folder: never a way out of it.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos;
}

// What the run.json in this folder says of its files. One that cannot be read lists none.
std::vector<std::string> files_of(const fs::path& run_json) {
  try {
    const auto run = io::detail::read_json(run_json);
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

}  // namespace

RunFolder::RunFolder(fs::path folder)
    : folder_(std::move(folder)), staging_(folder_ / io::kStagingFolder) {
  io::make_folder(folder_);
  for (const fs::path& file : {folder_ / kRunFile, checkpoint()})
    require<IoError>(!fs::is_directory(file), file.string(), ": a folder found, a file expected");
  std::error_code ignored;
  fs::remove_all(staging_, ignored);  // of a run that was killed
  fs::create_directory(staging_, ignored);
  io::write_atomically(staging_ / "can-write", "");
  fs::remove(staging_ / "can-write", ignored);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      staging_(std::move(other.staging_)),
      growing_(std::move(other.growing_)) {
  other.staging_.clear();
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

fs::path RunFolder::growing_file(const std::string& name) {
  growing_.insert(name);
  return folder_ / name;
}

std::set<std::string> RunFolder::files() const {
  std::set<std::string> names = growing_;
  for (const auto& entry : fs::directory_iterator(staging_))
    if (entry.path().filename() != kRunFile) names.insert(entry.path().filename().string());
  return names;
}

// Folders of others are not replaced: found before anything is removed.
void RunFolder::check_way() const {
  const std::vector<std::string> old = files_of(folder_ / kRunFile);
  for (const std::string& name : files())
    require<IoError>(!fs::is_directory(folder_ / name) || growing_.contains(name) ||
                         std::find(old.begin(), old.end(), name) != old.end(),
                     (folder_ / name).string(), ": a folder found, where a new file belongs");
}

void RunFolder::remove_earlier_run() {
  const fs::path run_json = folder_ / kRunFile;
  if (!fs::exists(run_json)) return;
  std::vector<std::string> old = files_of(run_json);
  old.push_back("report.html");
  remove_entry(run_json);  // first: what is left is no run any more
  for (const std::string& name : old)
    if (!growing_.contains(name)) remove_entry(folder_ / name);
}

void RunFolder::finish(const std::string& run_json) {
  io::write_atomically(staging_ / kRunFile, run_json);
  finish();
  move_into(staging_ / kRunFile, folder_ / kRunFile);
}

void RunFolder::finish() {
  const std::set<std::string> names = files();
  check_way();
  remove_earlier_run();
  for (const std::string& name : names)
    if (!growing_.contains(name)) move_into(staging_ / name, folder_ / name);
}

fs::path model_path(const std::string& given) {
  const fs::path path = given;
  return fs::is_directory(path) ? path / "model.safetensors" : path;
}

}  // namespace udv::jobs

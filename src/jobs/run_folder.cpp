// SPDX-License-Identifier: MIT
#include "udv/jobs/run_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "core/require.hpp"
#include "io/atomic_file.hpp"
#include "jobs/folder_lock.hpp"
#include "jobs/run_files.hpp"
#include "udv/core/options.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "checkpoint.bin";
constexpr std::size_t kFilesShown = 3;
// A checkpoint grows with the history of its run: twice the last one, and some more.
constexpr std::size_t kMoreReserve = 1 << 20;

// "a.csv, b.csv, c.csv and 7 more"
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kFilesShown); ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > kFilesShown) text += message(" and ", names.size() - kFilesShown, " more");
  return text;
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& what) {
  throw OptionError("out", folder.string() + " " + what);
}

bool take_in_time(FolderLock& lock, const fs::path& folder, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!lock.take(folder)) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Space that nobody else gets: as much as can be had of this, but not less than half of it. Not
// having it is no reason to stop.
void set_aside(const fs::path& file, std::size_t bytes) {
  const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (handle < 0) return;
  const auto take = [&](std::size_t size) {
    return ::fallocate(handle, 0, 0, static_cast<off_t>(size)) == 0;
  };
  if (!take(bytes) && !take(bytes / 4 * 3) && !take(bytes / 2)) ::unlink(file.c_str());
  ::close(handle);
}

// The folders that have to be made for this one, outer ones first.
std::vector<fs::path> missing_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, ignored); at = at.parent_path())
    missing.insert(missing.begin(), at);
  return missing;
}

}  // namespace

void check_folder_rules(const fs::path& folder, const FolderRules& rules) {
  if (rules.force) return;
  if (fs::exists(folder / kCheckpoint)) {
    if (rules.resume) return;
    refuse(
        folder,
        "holds the checkpoint of a run that was stopped: continue it (resume), start again (force) "
        "or take another folder");
  }
  if (fs::exists(folder / kRunFile) && !rules.updates.empty() &&
      command_of(folder / kRunFile) == rules.updates)
    return;
  if (!rules.continues.empty() && fs::exists(folder / rules.continues)) {
    if (rules.resume) return;
    refuse(folder, "holds results (" + rules.continues +
                       "): continue (resume), start again (force) or take another folder");
  }
  if (fs::exists(folder / kRunFile))
    refuse(folder, "holds a finished run: replace it (force) or take another folder");
  std::vector<std::string> foreign = foreign_files(folder);
  std::erase_if(foreign, [&](const std::string& name) { return rules.own.contains(name); });
  if (!foreign.empty())
    refuse(folder, "holds files that are not of a run of udv (" + some_of(foreign) +
                       "): take another folder, or write between them (force)");
}

struct RunFolder::Lock : FolderLock {};

RunFolder::RunFolder(fs::path folder, const FolderRules& rules)
    : folder_(std::move(folder)),
      staging_(folder_ / io::kStagingFolder),
      made_(missing_folders(folder_)),
      lock_(std::make_unique<Lock>()) {
  io::make_folder(folder_);
  require<IoError>(take_in_time(*lock_, folder_, rules.wait_seconds), folder_.string(),
                   ": another run writes to this folder; wait for its end or take another one");
  if (is_whole(staging_)) move_run(folder_, staging_);
  for (const fs::path& file : {folder_ / kRunFile, checkpoint()})
    require<IoError>(!fs::is_directory(file), file.string(), ": a folder found, a file expected");
  check_folder_rules(folder_, rules);
  keeps_checkpoint_ = rules.resume || !fs::exists(checkpoint());
  prepare_staging();
}

void RunFolder::prepare_staging() {
  std::error_code ignored;
  fs::remove_all(staging_, ignored);  // of a run that was killed
  fs::create_directory(staging_, ignored);
  io::write_atomically(staging_ / "can-write", "");
  fs::remove(staging_ / "can-write", ignored);
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      staging_(std::move(other.staging_)),
      growing_(std::move(other.growing_)),
      made_(std::move(other.made_)),
      keeps_checkpoint_(other.keeps_checkpoint_),
      lock_(std::move(other.lock_)) {
  other.staging_.clear();
  other.made_.clear();
}

// What waits to be moved is left to the next one.
RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!staging_.empty() && !is_whole(staging_)) fs::remove_all(staging_, ignored);
  lock_.reset();
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
    fs::remove(*folder, ignored);  // where it is empty
}

bool RunFolder::is_locked() const {
  return lock_->is_locked();
}

fs::path RunFolder::checkpoint() const {
  return folder_ / kCheckpoint;
}

fs::path RunFolder::file(const std::string& name) const {
  return staging() / name;
}

const fs::path& RunFolder::staging() const {
  release_reserve();
  return staging_;
}

void RunFolder::release_reserve() const {
  ::unlink(reserve().c_str());
}

void RunFolder::save_checkpoint(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  const auto write = [&] {
    io::AtomicFile file(checkpoint());
    for (const std::string_view part : parts) file.append(part);
    file.finish();
  };
  try {
    write();
  } catch (const IoError&) {
    if (::unlink(reserve().c_str()) != 0) throw;
    write();
  }
  keeps_checkpoint_ = true;
  set_aside(reserve(), 2 * size + kMoreReserve);
}

fs::path RunFolder::growing_file(const std::string& name) {
  const bool known = std::any_of(growing_.begin(), growing_.end(), [&](const std::string& other) {
    return top_name(other) == top_name(name);
  });
  growing_.insert(name);
  if (!known && fs::exists(staging_)) note_growing(staging_, growing_);
  return folder_ / name;
}

std::set<std::string> RunFolder::files() const {
  std::set<std::string> names = growing_;
  std::error_code ended;
  for (const auto& entry : fs::directory_iterator(staging_, ended)) {
    const std::string name = entry.path().filename().string();
    if (name != kRunFile && !name.starts_with('.')) names.insert(name);
  }
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

void RunFolder::finish(const std::string& run_json) {
  release_reserve();
  io::write_atomically(staging_ / kRunFile, run_json);
  finish();
}

void RunFolder::finish() {
  check_way();
  std::error_code ignored;
  if (!keeps_checkpoint_) fs::remove(checkpoint(), ignored);  // of the run that is replaced
  std::set<std::string> names = files();
  if (fs::exists(staging_ / kRunFile)) names.insert(kRunFile);
  mark_whole(staging_, names);
  move_run(folder_, staging_);
}

void RunFolder::complete(const fs::path& folder) {
  const fs::path staging = folder / io::kStagingFolder;
  FolderLock lock;
  if (is_whole(staging) && lock.take(folder) && is_whole(staging)) move_run(folder, staging);
}

fs::path model_path(const std::string& given) {
  const fs::path path = given;
  if (!fs::is_directory(path)) return path;
  RunFolder::complete(path);
  return path / "model.safetensors";
}

}  // namespace udv::jobs

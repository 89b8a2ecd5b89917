// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/io/run_info.hpp"

namespace udv::jobs {

/// What a run does about a folder that holds something.
struct FolderRules {
  bool resume = false;  ///< continue from the checkpoint in it
  /// Replace the run in it. Files of others stay, but for those of the same name as a new one.
  bool force = false;
  /// A file of results that a run can be continued from without a checkpoint; empty: none.
  std::string continues = {};
  double wait_seconds = 0;  ///< for another process that writes to it
  /// A finished run of this command is brought up to date; empty: none is.
  std::string updates = {};
  /// Files and folders that this job has written before a run.json, or without one.
  std::set<std::string> own = {};
};

/// Throws OptionError where the rules do not allow for what is in the folder. Changes nothing.
UDV_EXPORT void check_folder_rules(const std::filesystem::path& folder, const FolderRules& rules);

/// The folder of a run on disk, written and read here alone. New files wait in a hidden folder
/// until finish(): until then an earlier run in the same place stays as it was. run.json comes
/// last and lists the files of its run, so that a later run removes these and no others. One that
/// is killed in finish() is made whole by the next one that opens or reads the folder. A folder
/// that was made here and has nothing in it in the end is removed again.
class UDV_EXPORT RunFolder {
 public:
  /// Makes the folder. Throws IoError naming it where nothing can be written to it or another
  /// process does, OptionError where the rules do not allow for what is in it.
  explicit RunFolder(std::filesystem::path folder, const FolderRules& rules = {});
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path checkpoint() const;
  /// Replaces the checkpoint by these parts, then sets space aside for the next one: it can be
  /// written when the disk is full. Throws IoError; the checkpoint stays as it was then.
  void save_checkpoint(std::initializer_list<std::string_view> parts);

  /// Where to write a new file of this run. It gets the space that was set aside for a checkpoint.
  std::filesystem::path file(const std::string& name) const;
  /// Everything that is written into this folder becomes part of the run. Files get the space that
  /// was set aside for a checkpoint.
  const std::filesystem::path& staging() const;
  /// The place of a file that grows while the run goes on: in the folder itself from the start.
  std::filesystem::path growing_file(const std::string& name);

  /// Replaces the earlier run by this one; `run_json` is the whole text of run.json.
  void finish(const std::string& run_json);
  /// Without a run.json, for jobs that only write files.
  void finish();

  /// False where the file system has no locks: nobody notices another run in this folder.
  bool is_locked() const;

  /// Names of the files of this run so far, without run.json.
  std::set<std::string> files() const;

  /// Moves the files of a run into place that was killed while it did so.
  static void complete(const std::filesystem::path& folder);

 private:
  struct Lock;
  void check_way() const;
  void prepare_staging();
  void release_reserve() const;
  std::filesystem::path reserve() const { return staging_ / ".reserve"; }

  std::filesystem::path folder_, staging_;
  std::set<std::string> growing_;
  std::vector<std::filesystem::path> made_;  // folders, outer ones first
  bool keeps_checkpoint_ = true;
  std::unique_ptr<Lock> lock_;
};

/// A model that a path names: model.safetensors of a run where a folder is given, else the file.
UDV_EXPORT std::filesystem::path model_path(const std::string& given);

}  // namespace udv::jobs

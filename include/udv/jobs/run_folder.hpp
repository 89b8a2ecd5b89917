// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "udv/core/export.hpp"
#include "udv/io/run_info.hpp"

namespace udv::jobs {

/// The folder of a run on disk, written and read here alone. New files wait in a hidden folder
/// until finish(): until then an earlier run in the same place stays as it was. run.json comes
/// last and lists the files of its run, so that a later run removes these and no others.
class UDV_EXPORT RunFolder {
 public:
  /// Makes the folder. Throws IoError naming it where nothing can be written to it.
  explicit RunFolder(std::filesystem::path folder);
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.bin"; }

  /// Where to write a new file of this run.
  std::filesystem::path file(const std::string& name) const { return staging_ / name; }
  /// Everything that is written into this folder becomes part of the run.
  const std::filesystem::path& staging() const { return staging_; }
  /// The place of a file that grows while the run goes on: in the folder itself from the start.
  std::filesystem::path growing_file(const std::string& name);

  /// Replaces the earlier run by this one; `run_json` is the whole text of run.json.
  void finish(const std::string& run_json);
  /// Without a run.json, for jobs that only write files.
  void finish();

  /// Names of the files of this run so far, without run.json.
  std::set<std::string> files() const;

 private:
  void check_way() const;
  void remove_earlier_run();

  std::filesystem::path folder_, staging_;
  std::set<std::string> growing_;
};

/// A model that a path names: model.safetensors of a run where a folder is given, else the file.
UDV_EXPORT std::filesystem::path model_path(const std::string& given);

}  // namespace udv::jobs

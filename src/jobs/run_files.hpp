// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::jobs {

inline constexpr const char* kRunFile = "run.json";

/// "models" of "models/a.safetensors".
std::string top_name(const std::string& name);

/// What the run.json at this place says of its files; one that cannot be read lists none. Names
/// inside its folder alone: never a way out of it.
std::vector<std::string> files_of(const std::filesystem::path& run_json);

/// The command that the run.json at this place names; empty where it names none or cannot be read.
std::string command_of(const std::filesystem::path& run_json);

/// Names in the folder of a run that no run of udv has written: nothing of an unfinished run that
/// was killed, no hidden files.
std::vector<std::string> foreign_files(const std::filesystem::path& folder);

/// Throws OptionError where `folder` holds something else than the folders of these runs and files
/// that are made of their results; `results` are of somebody else where none of the runs is there.
UDV_EXPORT void check_folder_of_runs(const std::filesystem::path& folder, FolderRules rules,
                                     const std::vector<std::string>& runs,
                                     const std::vector<std::string>& results);

/// A run has written this file: its run.json lists it, or it grows while the run goes on.
UDV_EXPORT bool is_file_of_run(const std::filesystem::path& file);

/// Notes that these files are written into the folder itself before the run is whole.
void note_growing(const std::filesystem::path& staging, const std::set<std::string>& growing);

/// Says that everything of a run waits in the staging folder: `names` are all its files. From here
/// on move_run() ends with the new run, however often it is cut off.
void mark_whole(const std::filesystem::path& staging, const std::set<std::string>& names);
bool is_whole(const std::filesystem::path& staging);

/// Replaces the run in the folder by the one that waits. Files of the earlier run go, run.json
/// comes last, the staging folder goes in the end.
void move_run(const std::filesystem::path& folder, const std::filesystem::path& staging);

}  // namespace udv::jobs

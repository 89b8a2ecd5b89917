// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "udv/core/observer.hpp"

namespace udv::cli {

/// Flags of every command.
struct CommonFlags {
  std::string out;
  std::uint64_t seed = 0;
  int threads = 0;
  bool resume = false;
  bool quiet = false;
  double time_limit = 0;
  std::string report = "on";

  void add_to(CLI::App& command);
};

/// A positive, finite number.
CLI::Validator positive();
/// Above 0, 1 at most.
CLI::Validator share_number();
/// CLI11 turns -1, and what is too large, into the largest unsigned number.
CLI::Validator seed_number();

/// The folder of a run, made and found writable. Throws IoError naming it.
std::filesystem::path make_run_folder(const CommonFlags& common, const std::string& command);

/// report.html in the folder of a run, unless --report off.
void leave_report(const CommonFlags& common, const std::string& command,
                  const std::filesystem::path& folder);

/// "udv: warning: ..." on standard error.
void warn(const std::string& text);

/// The model of a run where a folder is given, else the file itself.
std::filesystem::path model_path(const std::string& given);

/// Not there is fine too. Throws IoError naming the file.
void remove_file(const std::filesystem::path& path);

/// The bytes of a checkpoint to go on from with --resume; none, with a warning, where it is not
/// there. Throws IoError where it is empty.
std::string checkpoint_to_resume(const CommonFlags& common, const std::filesystem::path& path);

/// One line of a summary: a name, then what there is to say.
void print_fact(const char* name, const std::string& value);

/// Ends a run so many seconds from now, whatever earlier parts of it took.
Observer time_limit_from_now(double seconds);

/// Wants to stop once Ctrl-C was pressed.
Observer stop_on_interrupt();

/// "udv: interrupted; go on with ..." on standard error; no hint where there is no folder.
void say_interrupted(const std::filesystem::path& folder);

}  // namespace udv::cli

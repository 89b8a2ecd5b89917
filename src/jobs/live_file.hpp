// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// live.json in the folder of a running job: progress, history and the sizes of the columns, for
/// `udv watch`. Written from the first half second on, twice a second at most
/// and never for more than a fiftieth of the time; gone when the run has ended.
class LiveFile {
 public:
  LiveFile(const std::filesystem::path& folder, std::string command, ProgressTotal total,
           ProgressWords words = {});
  ~LiveFile();
  /// The file stays, and says so.
  void set_interrupted() { interrupted_ = true; }
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;

  Observer observer();

 private:
  void keep(const IterationRecord& record);
  void write(const IterationRecord& record, const char* state);

  std::filesystem::path path_;
  std::string command_;
  ProgressTotal total_;
  ProgressWords words_;
  std::vector<IterationRecord> history_;
  IterationRecord last_;
  double next_write_;
  bool written_ = false, interrupted_ = false;
};

}  // namespace udv::jobs

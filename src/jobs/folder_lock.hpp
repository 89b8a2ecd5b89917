// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace udv::jobs {

/// The right to write to a folder: one process, and one run of it, has it at a time. It is held on
/// the folder itself, leaves no file and ends with its process. Where a file system knows no locks
/// everybody has the right.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

  /// False where somebody else has it.
  bool take(const std::filesystem::path& folder);

 private:
  int handle_ = -1;
};

}  // namespace udv::jobs

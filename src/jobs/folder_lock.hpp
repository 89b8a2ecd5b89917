// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace udv::jobs {

/// What came of the wish for a lock.
enum class LockResult {
  kTaken,
  kBusy,     ///< somebody else has it
  kNoLocks,  ///< the file system has none: nobody can have it
};

/// What an error number of flock (0: none) says. Throws IoError naming `path` where it is another
/// failure.
LockResult result_of_lock(int failure, const std::filesystem::path& path);

/// flock on an open file, without waiting. Throws IoError naming `path` where it fails otherwise.
LockResult lock_file(int handle, const std::filesystem::path& path);

/// The right to write to a folder: one process, and one run of it, has it at a time. It is a lock
/// on a hidden file in the folder, opened for writing: network file systems know locks on such
/// files alone. The lock ends with its process; the file, empty, goes with the lock, and one that a
/// killed process has left is in nobody's way. Where a file system has no locks everybody has the
/// right.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// False where somebody else has it.
  bool take(const std::filesystem::path& folder);
  /// False where the folder cannot be locked.
  bool is_locked() const { return handle_ >= 0; }

 private:
  std::filesystem::path file_;
  int handle_ = -1;
};

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include "jobs/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/require.hpp"

namespace udv::jobs {
namespace {

constexpr const char* kLockFile = ".udv-lock";

// The file that is open here is still the one of this name: its last holder has not removed it.
bool is_in_place(int handle, const std::filesystem::path& file) {
  struct stat open_one = {}, named = {};
  return ::fstat(handle, &open_one) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

}  // namespace

LockResult result_of_lock(int failure, const std::filesystem::path& path) {
  switch (failure) {
    case 0:
      return LockResult::kTaken;
    case EWOULDBLOCK:
      return LockResult::kBusy;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
      return LockResult::kNoLocks;
    default:
      throw IoError(message(path.string(), ": cannot be locked: ", std::strerror(failure)));
  }
}

LockResult lock_file(int handle, const std::filesystem::path& path) {
  int failure = 0;
  do failure = ::flock(handle, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (failure == EINTR);
  return result_of_lock(failure, path);
}

// Removed while the lock is held: who opens it later makes a new one.
FolderLock::~FolderLock() {
  if (handle_ < 0) return;
  ::unlink(file_.c_str());
  ::close(handle_);
}

// A folder that nothing can be written to says so when something is written.
bool FolderLock::take(const std::filesystem::path& folder) {
  file_ = folder / kLockFile;
  for (;;) {
    const int handle = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (handle < 0) return true;
    const LockResult result = lock_file(handle, folder);
    if (result == LockResult::kTaken && is_in_place(handle, file_)) {
      handle_ = handle;
      return true;
    }
    ::close(handle);
    if (result == LockResult::kNoLocks) ::unlink(file_.c_str());
    if (result != LockResult::kTaken) return result == LockResult::kNoLocks;
  }
}

}  // namespace udv::jobs

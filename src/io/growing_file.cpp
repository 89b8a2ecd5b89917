// SPDX-License-Identifier: MIT
#include "io/growing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/require.hpp"

namespace udv::io::detail {

GrowingFile::GrowingFile(std::filesystem::path path) : path_(std::move(path)) {
  handle_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  require<IoError>(handle_ >= 0, path_.string(), ": cannot be opened: ", std::strerror(errno));
}

GrowingFile::~GrowingFile() {
  ::close(handle_);
}

void GrowingFile::append(std::string_view text) {
  const off_t before = ::lseek(handle_, 0, SEEK_END);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(handle_, text.data() + written, text.size() - written);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    const int why = count == 0 ? ENOSPC : errno;
    if (before >= 0 && written > 0) cut(static_cast<std::size_t>(before));
    throw IoError(message(path_.string(), ": writing ", text.size(), " bytes failed: ",
                          std::strerror(why), "; ", text.size() - written, " bytes are missing"));
  }
}

void GrowingFile::cut(std::size_t size) {
  require<IoError>(::ftruncate(handle_, static_cast<off_t>(size)) == 0, path_.string(),
                   ": cannot be cut: ", std::strerror(errno));
}

}  // namespace udv::io::detail

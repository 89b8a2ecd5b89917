// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "udv/core/error.hpp"

namespace udv::fuzz {

/// A file in memory under a name of our choice, as many readers go by it.
class InputFile {
 public:
  explicit InputFile(const std::string& name) : file_(memfd_create("fuzz", 0)) {
    std::string folder = std::filesystem::temp_directory_path() / "udv-fuzz-XXXXXX";
    if (file_ < 0 || !mkdtemp(folder.data())) throw std::runtime_error("no file to fuzz with");
    folder_ = folder;
    path_ = folder_ / name;
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file_), path_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    ::close(file_);
  }

  const std::filesystem::path& write(std::string_view bytes) const {
    const bool written = ftruncate(file_, 0) == 0 && pwrite(file_, bytes.data(), bytes.size(), 0) ==
                                                         static_cast<ssize_t>(bytes.size());
    if (!written) throw std::runtime_error("the file to fuzz with cannot be written");
    return path_;
  }

 private:
  int file_;
  std::filesystem::path folder_, path_;
};

/// Numbers from the input, zeros behind its end.
class Source {
 public:
  Source(const unsigned char* data, std::size_t size) : data_(data), left_(size) {}
  unsigned byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  bool done() const { return left_ == 0; }

 private:
  const unsigned char* data_;
  std::size_t left_;
};

inline std::string_view view(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// `read` may return or throw IoError with one line that starts with the path; all else is a
/// finding.
template <typename Read>
void read_or_refuse(const std::filesystem::path& path, const Read& read) {
  try {
    read(path);
  } catch (const IoError& error) {
    const std::string_view text = error.what();
    if (text.starts_with(path.string()) && text.find('\n') == text.npos) return;
    std::fprintf(stderr, "a message without the path, or of more than one line: %s\n",
                 error.what());
    std::abort();
  }
}

}  // namespace udv::fuzz

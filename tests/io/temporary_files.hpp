// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "core/require.hpp"

namespace udv::io {

/// Small binary files stand in the tests as hexadecimal digits.
inline std::string bytes_of_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

/// A new folder that is removed, with what is in it, at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device entropy;
    path_ = std::filesystem::temp_directory_path() / message("udv-test-", entropy(), entropy());
    std::filesystem::create_directory(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  /// Writes a file and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

  /// The message of the IoError that `action` throws, without the name of this folder.
  template <typename Action>
  std::string error_of(const Action& action) const {
    try {
      action();
    } catch (const IoError& error) {
      return without_folder(error.what());
    }
    return "no error";
  }

  std::string without_folder(std::string text) const {
    const std::string folder = path_.string() + "/";
    for (std::size_t at = 0; (at = text.find(folder)) != text.npos;) text.erase(at, folder.size());
    return text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace udv::io

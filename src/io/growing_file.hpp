// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>

#include "udv/core/export.hpp"

namespace udv::io::detail {

/// A file that text is appended to, all of it or nothing: where there is no space for all, what was
/// written of it goes again.
class UDV_EXPORT GrowingFile {
 public:
  /// Makes it where it is missing. Throws IoError naming it.
  explicit GrowingFile(std::filesystem::path path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  int handle() const { return handle_; }
  /// Throws IoError, which says how many bytes there was no space for.
  void append(std::string_view text);
  /// Leaves the first `size` bytes.
  void cut(std::size_t size);

 private:
  std::filesystem::path path_;
  int handle_;
};

}  // namespace udv::io::detail

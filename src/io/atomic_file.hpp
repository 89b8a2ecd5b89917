// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "udv/core/export.hpp"

namespace udv::io {

/// A file that is written piece by piece under a temporary name and gets its own at the end: a
/// crash or an exception leaves no half of it. Throws IoError as write_atomically does.
class UDV_EXPORT AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace udv::io

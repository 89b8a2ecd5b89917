// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace udv::io::detail {

/// The bytes of a file without a copy of them: only what is looked at is read.
struct MappedFile {
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

/// Maps a file; one whose name ends in .gz is unpacked into memory. Throws IoError naming the path
/// where it is missing, a folder, or empty ("0 bytes found, `expected` expected").
MappedFile map_file(const std::filesystem::path& path, std::string_view expected);

}  // namespace udv::io::detail

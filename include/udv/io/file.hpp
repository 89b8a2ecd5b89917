// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "udv/core/export.hpp"

namespace udv::io {

/// The whole file as bytes; a name that ends in .gz is unpacked (all members of it). Throws IoError
/// naming the path where it is missing, a folder, unreadable, or damaged gzip data.
UDV_EXPORT std::string read_bytes(const std::filesystem::path& path);

/// The first `count` bytes as they stand, fewer where the file is shorter. Throws as read_bytes.
UDV_EXPORT std::string read_start(const std::filesystem::path& path, std::size_t count);

/// Where files of a run wait until the run is whole. Errors name them by their later place.
inline constexpr const char* kStagingFolder = ".udv-new";

/// Writes to a temporary name in the same folder, then renames: a crash never leaves half a file.
/// Throws IoError naming the path; the temporary file is removed on failure. A folder or a device
/// is refused.
UDV_EXPORT void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Makes a folder, and those above it, where it is not there yet. Throws IoError naming it.
UDV_EXPORT void make_folder(const std::filesystem::path& folder);

}  // namespace udv::io

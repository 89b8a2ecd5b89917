// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace udv::io::detail {

/// The unpacked bytes of a gzip file of one or more members. Throws IoError that starts with
/// `name` where the bytes are no gzip data, are damaged, end early or unpack to too much.
std::string gunzip(const std::string& name, std::string_view packed);

/// Does the name end in .gz? Such files are unpacked wherever they are read.
bool is_packed(const std::filesystem::path& path);

/// The first `count` unpacked bytes, fewer where there are fewer; what follows is not looked at.
std::string gunzip_start(const std::string& name, std::string_view packed, std::size_t count);

/// The same for one zlib stream, as other formats have it inside; what follows it is ignored.
std::string inflate_zlib(const std::string& name, std::string_view packed);

/// The same for a .gz file: only so much of it is unpacked.
std::string read_unpacked_start(const std::filesystem::path& path, std::size_t count);

}  // namespace udv::io::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "io/toml.hpp"

namespace udv::io::detail {

/// A TOML text. Throws IoError naming path and line where it is none, has control characters, or
/// keys of more than 100 parts: each part is a table in the one before it, and the parser calls
/// itself for each.
toml::table parse_toml(const std::string& path, std::string_view text);

}  // namespace udv::io::detail

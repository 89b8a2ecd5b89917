// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace udv::cli {

/// The keys of a TOML file as flags, --key=value; lists are joined by commas. Throws IoError naming
/// file and line.
std::vector<std::string> config_flags(const std::string& path);

/// Replaces `--config FILE` by the flags of that TOML file, put before all flags given by hand so
/// that those win. Keys are the long names of flags. Throws IoError naming file and line.
std::vector<std::string> expand_config(const std::vector<std::string>& arguments);

}  // namespace udv::cli

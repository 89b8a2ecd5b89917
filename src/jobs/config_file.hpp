// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"

namespace udv::jobs {

/// One key of a TOML file of settings, with its value as text; lists are joined by commas, a list
/// of one item ends with a comma.
struct ConfigEntry {
  std::string name, text;
  std::string where;  ///< "file:line"
};

/// The settings of a TOML file. Throws IoError naming file and line.
UDV_EXPORT std::vector<ConfigEntry> config_entries(const std::string& path);

/// Sets what the file says. Throws IoError naming file, line and key: a key that no option has is
/// answered with the nearest one.
UDV_EXPORT void apply_config(const std::string& path, OptionTable& table);

}  // namespace udv::jobs

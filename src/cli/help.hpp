// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace udv::cli {

/// What `udv --help` prints.
std::string program_help(const std::vector<Command>& commands);

/// What `udv COMMAND --help` prints: usage, arguments, options by group, an example.
std::string command_help(const Command& command);

}  // namespace udv::cli

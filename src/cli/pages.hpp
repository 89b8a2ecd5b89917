// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

/// Texts made from the option tables of the commands: manual pages, completion of command lines and
/// the reference page. Hidden commands do not appear.
namespace udv::cli {

/// A file below the folder of the pages.
struct Page {
  std::string path, text;
};

using Commands = std::vector<Command>;

/// man/udv.1 and man/udv-COMMAND.1, in the language of groff's man macros.
std::vector<Page> manual_pages(const Commands& commands);

/// Scripts for three shells: commands, flags, choices, files.
std::string bash_completion(const Commands& commands);
std::string zsh_completion(const Commands& commands);
std::string fish_completion(const Commands& commands);

/// docs/commands.md: a table of options for each command.
std::string reference_page(const Commands& commands);

/// All of these.
std::vector<Page> all_pages(const Commands& commands);

/// `udv pages FOLDER` writes all_pages. It is called by the build and does not appear in the help.
Command pages_command(Commands (*all_commands)());

}  // namespace udv::cli

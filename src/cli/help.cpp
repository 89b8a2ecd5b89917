// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <fmt/format.h>

#include <sstream>

#include "cli/option_text.hpp"

namespace udv::cli {
namespace {

constexpr size_t kWidth = 96;   // of a line
constexpr size_t kColumn = 28;  // where explanations start

// A term and its explanation, which continues below itself.
std::string entry(const std::string& term, const std::string& explanation) {
  std::string text, line = "  " + term;
  if (line.size() + 2 > kColumn) {
    text = line + "\n";
    line.clear();
  }
  line.resize(kColumn, ' ');
  bool first = true;
  std::istringstream words(explanation);
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line.assign(kColumn, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string option_entry(const Option& option) {
  const std::string value = value_text(option);
  const std::string otherwise = option.default_text.empty() ? "" : " [" + option.default_text + "]";
  return entry(flag_text(option) + (value.empty() ? "" : " " + value),
               meaning_text(option) + otherwise);
}

std::string section(const std::string& heading, const std::vector<Option>& options) {
  std::string text = "\n" + heading + ":\n";
  for (const Option& option : options) text += option_entry(option);
  return text;
}

}  // namespace

std::string program_help(const std::vector<Command>& commands) {
  std::string text =
      "Recover low-rank matrices and train low-rank networks without being told the rank.\n"
      "Usage: udv COMMAND [OPTION]...\n\nCommands:\n";
  for (const Command& command : commands)
    if (!command.hidden) text += entry(command.name, command.summary);
  text += "\nExamples:\n";
  for (const Command& command : commands)
    for (const char* shown : {"demo", "complete", "train", "watch"})
      if (command.name == shown) text += "  " + command.example + "\n";
  text += "\nOptions:\n" + entry("-h, --help, help", "Print this help and exit") +
          entry("--version, version", "Print the version and exit");
  return text + "\nudv help COMMAND, or udv COMMAND --help, explains a command.\n";
}

std::string command_help(const Command& command) {
  std::string text = command.summary + "\nUsage: " + synopsis_text(command) + "\n";
  const std::vector<Option> arguments = arguments_of(command);
  if (!arguments.empty()) text += section("Arguments", arguments);
  for (const OptionGroup& group : flags_of(command)) text += section(group.heading, group.options);
  text += "\nHelp:\n" + entry("-h, --help", "Print this help and exit");
  if (!command.example.empty()) text += "\nExample: " + command.example + "\n";
  return text;
}

}  // namespace udv::cli

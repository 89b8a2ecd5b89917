// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/option_text.hpp"
#include "cli/pages.hpp"

namespace udv::cli {
namespace {

// A cell of a table must not end early.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + cell(text) + "`";
}

std::string values_text(const Option& option) {
  if (option.is_switch) return "";
  if (option.choices.empty()) return code(value_text(option));
  std::string words;
  for (const std::string& choice : option.choices)
    words += (words.empty() ? "" : ", ") + code(choice);
  return words;
}

// The choices have a column of their own.
std::string meaning(const Option& option) {
  return cell(option.help + (option.unit.empty() ? "" : ", in " + option.unit));
}

std::string row(const Option& option) {
  return fmt::format("| {} | {} | {} | {} |\n", code(flag_text(option)), values_text(option),
                     cell(option.default_text), meaning(option));
}

std::string option_table(const std::string& heading, const std::vector<Option>& options) {
  std::string text =
      fmt::format("\n| {} | values | default | meaning |\n|---|---|---|---|\n", heading);
  for (const Option& option : options) text += row(option);
  return text;
}

std::string command_section(const Command& command) {
  std::string text = fmt::format("\n## {}\n\n{}.\n\n```\n{}\n```\n", command.name, command.summary,
                                 synopsis_text(command));
  if (!command.example.empty()) text += fmt::format("\nExample: `{}`\n", command.example);
  const std::vector<Option> arguments = arguments_of(command);
  if (!arguments.empty()) text += option_table("argument", arguments);
  for (const OptionGroup& group : flags_of(command))
    text += option_table(group.heading, group.options);
  return text;
}

}  // namespace

std::string reference_page(const Commands& commands) {
  std::string text =
      "# Commands\n\n"
      "<!-- Made from the option tables by `udv pages`. Do not edit: `make pages` writes it. "
      "-->\n\n"
      "Every option is also a key of the TOML file that `--config` names, and of `config` in "
      "run.json.\nThe same tables are in `man udv-COMMAND` and in `udv COMMAND --help`.\n\n"
      "| command | what it does |\n|---|---|\n";
  for (const Command& command : commands)
    if (!command.hidden)
      text += fmt::format("| [{0}](#{0}) | {1} |\n", command.name, cell(command.summary));
  for (const Command& command : commands)
    if (!command.hidden && !command.passes_arguments) text += command_section(command);
  return text;
}

}  // namespace udv::cli

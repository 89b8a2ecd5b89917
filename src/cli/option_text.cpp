// SPDX-License-Identifier: MIT
#include "cli/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace udv::cli {
namespace {

constexpr const char* kRunGroup = "Run";

bool contains(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != text.npos; });
}

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

}  // namespace

std::string flag_text(const Option& option) {
  return (option.positional ? "" : "--") + option.name;
}

std::string meaning_text(const Option& option) {
  std::string text = option.help;
  if (!option.unit.empty()) text += ", in " + option.unit;
  const std::vector<std::string>& choices = option.choices;
  if (choices.size() == 2) return text + "; " + choices[0] + " or " + choices[1];
  return choices.empty() ? text : text + fmt::format("; one of {}", fmt::join(choices, ", "));
}

std::string value_text(const Option& option) {
  if (option.is_switch) return "";
  if (!option.choices.empty()) return option.bare_word.empty() ? "WORD" : "[WORD]";
  return option.value_name + (option.takes_list ? "..." : "");
}

std::string synopsis_text(const Command& command) {
  std::string text = "udv " + command.name + " [OPTION]...";
  for (const Option& option : arguments_of(command)) {
    const std::string name = option.name + (option.takes_list ? "..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text;
}

ValueKind value_kind(const Option& option) {
  if (option.is_switch) return ValueKind::kNothing;
  if (!suggested_words(option).empty()) return ValueKind::kChoice;
  if (contains(option.value_name, {"FOLDER", "DIR"})) return ValueKind::kFolder;
  if (contains(option.value_name, {"FILE", "DATA", "MODEL", "RUN", "SPEC", "PATH"}))
    return ValueKind::kFile;
  // An argument without a flag is a file more often than not.
  return option.positional ? ValueKind::kFile : ValueKind::kOther;
}

std::vector<std::string> suggested_words(const Option& option) {
  std::vector<std::string> words = option.choices;
  if (words.empty() && option.special) words.push_back(option.special->first);
  std::istringstream parts(option.value_name);
  for (std::string part; option.choices.empty() && std::getline(parts, part, '|');)
    if (!part.empty() && std::all_of(part.begin(), part.end(), is_lower)) words.push_back(part);
  return words;
}

Option config_option() {
  Option option;
  option.name = "config";
  option.help = "TOML file with settings by the names of the flags; flags win";
  option.group = kRunGroup;
  option.value_name = "FILE";
  return option;
}

std::vector<Option> arguments_of(const Command& command) {
  std::vector<Option> arguments;
  for (const Option& option : command.table.options())
    if (option.positional && !option.name.empty()) arguments.push_back(option);
  return arguments;
}

std::vector<OptionGroup> flags_of(const Command& command) {
  std::vector<OptionGroup> groups;
  const auto add = [&](const Option& option) {
    const std::string heading = option.group.empty() ? "General" : option.group;
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const OptionGroup& group) {
      return group.heading == heading;
    });
    if (at == groups.end())
      groups.push_back({heading, {option}});
    else
      at->options.push_back(option);
  };
  for (const Option& option : command.table.options())
    if (!option.positional && !option.name.empty()) add(option);
  if (command.takes_config) add(config_option());
  std::stable_partition(groups.begin(), groups.end(),
                        [](const OptionGroup& group) { return group.heading != kRunGroup; });
  return groups;
}

}  // namespace udv::cli

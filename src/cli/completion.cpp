// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "cli/option_text.hpp"
#include "cli/pages.hpp"

namespace udv::cli {
namespace {

// Every `from` becomes `to`.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<const Command*> shown(const Commands& commands) {
  std::vector<const Command*> list;
  for (const Command& command : commands)
    if (!command.hidden) list.push_back(&command);
  return list;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::vector<Option> all_flags(const Command& command) {
  std::vector<Option> flags;
  for (const OptionGroup& group : flags_of(command))
    flags.insert(flags.end(), group.options.begin(), group.options.end());
  return flags;
}

// ---- bash

constexpr const char* kBashStart = R"(# Completion of udv for bash; made by `udv pages`.
_udv() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} flags= words=
  # bash takes --flag=value apart.
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
)";

// Without a match, `complete -o default` offers files: right where a file is expected.
constexpr const char* kBashEnd = R"(  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags --help" -- "$cur"))
    compopt +o default 2>/dev/null
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o default -F _udv udv udv-deep
)";

std::string bash_choices(const std::vector<std::string>& choices) {
  return "COMPREPLY=($(compgen -W \"" + joined(choices, " ") + "\" -- \"$cur\"))";
}

std::string bash_value(const Option& option) {
  const std::string no_files = "compopt +o default 2>/dev/null; return ;;";
  switch (value_kind(option)) {
    case ValueKind::kChoice:
      return bash_choices(suggested_words(option)) + "; " + no_files;
    case ValueKind::kFile:
      return "return ;;";
    case ValueKind::kFolder:
      return "compopt +o default -o dirnames 2>/dev/null; return ;;";
    default:
      return no_files;
  }
}

// Flags that take the same kind of value share a line.
std::string bash_values(const Command& command) {
  std::vector<std::pair<std::string, std::string>> cases;  // action, patterns
  for (const Option& option : all_flags(command)) {
    if (value_kind(option) == ValueKind::kNothing) continue;
    const std::string action = bash_value(option), flag = flag_text(option);
    const auto at = std::find_if(cases.begin(), cases.end(),
                                 [&](const auto& one) { return one.first == action; });
    if (at == cases.end())
      cases.emplace_back(action, flag);
    else
      at->second += "|" + flag;
  }
  std::string text;
  for (const auto& [action, patterns] : cases)
    text += fmt::format("        {}) {}\n", patterns, action);
  return text.empty() ? "" : "      case $prev in\n" + text + "      esac\n";
}

std::string bash_command(const Command& command) {
  std::vector<std::string> flags, words;
  for (const Option& option : all_flags(command)) flags.push_back(flag_text(option));
  for (const Option& option : arguments_of(command))
    for (const std::string& word : suggested_words(option)) words.push_back(word);
  std::string text = fmt::format("    {})\n{}", command.name, bash_values(command));
  text += fmt::format("      flags=\"{}\"\n", joined(flags, " "));
  if (!words.empty()) text += fmt::format("      words=\"{}\"\n", joined(words, " "));
  return text + "      ;;\n";
}

// ---- zsh

std::string zsh_quoted(const std::string& text) {
  return replaced(text, "'", R"('\'')");
}

// Inside [...] of a specification.
std::string zsh_help(const Option& option) {
  std::string text = replaced(option.help, "\\", "\\\\");
  for (const char* special : {"[", "]", ":"})
    text = replaced(text, special, std::string("\\") + special);
  return zsh_quoted(text);
}

std::string zsh_action(const Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kChoice:
      return "(" + zsh_quoted(joined(suggested_words(option), " ")) + ")";
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kFolder:
      return "_files -/";
    default:
      return " ";
  }
}

std::string zsh_flag(const Option& option) {
  const std::string many = option.takes_list ? "*" : "";
  if (option.is_switch) return fmt::format("'--{}[{}]'", option.name, zsh_help(option));
  return fmt::format("'{}--{}=[{}]:{}:{}'", many, option.name, zsh_help(option),
                     replaced(zsh_quoted(option.value_name), ":", "\\:"), zsh_action(option));
}

std::string zsh_argument(const Option& option) {
  return fmt::format("'{}:{}:{}'", option.takes_list ? "*" : "", option.name, zsh_action(option));
}

std::string zsh_command(const Command& command) {
  std::string text = fmt::format("    {})\n      _arguments \\\n", command.name);
  for (const Option& option : all_flags(command)) text += "        " + zsh_flag(option) + " \\\n";
  for (const Option& option : arguments_of(command))
    text += "        " + zsh_argument(option) + " \\\n";
  return text + "        '(- *)--help[Print the options and exit]'\n      ;;\n";
}

// ---- fish

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_value(const Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kNothing:
      return "";
    case ValueKind::kChoice:
      return " -x -a " + fish_quoted(joined(suggested_words(option), " "));
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    default:
      return " -x";
  }
}

std::string fish_argument(const Option& option) {
  switch (value_kind(option)) {
    case ValueKind::kChoice:
      return " -a " + fish_quoted(joined(suggested_words(option), " "));
    case ValueKind::kFolder:
      return " -a '(__fish_complete_directories)'";
    default:
      return " -F";
  }
}

std::string fish_command(const Command& command) {
  const std::string start =
      fmt::format("complete -c udv -n '__fish_seen_subcommand_from {}'", command.name);
  std::string text = fmt::format("complete -c udv -n __fish_use_subcommand -a {} -d {}\n",
                                 command.name, fish_quoted(command.summary));
  for (const Option& option : arguments_of(command)) text += start + fish_argument(option) + "\n";
  for (const Option& option : all_flags(command))
    text += fmt::format("{} -l {}{} -d {}\n", start, option.name, fish_value(option),
                        fish_quoted(option.help));
  return text;
}

}  // namespace

std::string bash_completion(const Commands& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const Command* command : shown(commands)) {
    names.push_back(command->name);
    if (!command->passes_arguments) cases += bash_command(*command);
  }
  const std::string first =
      "  if ((COMP_CWORD == 1)); then\n    " + bash_choices(names) +
      "\n    [[ $cur == -* ]] && COMPREPLY=($(compgen -W \"--help --version\" -- \"$cur\"))\n"
      "    compopt +o default 2>/dev/null\n    return\n  fi\n";
  return kBashStart + first + "  case ${COMP_WORDS[1]} in\n" + cases + "  esac\n" + kBashEnd;
}

std::string zsh_completion(const Commands& commands) {
  std::string names, cases;
  for (const Command* command : shown(commands)) {
    const std::string summary = replaced(zsh_quoted(command->summary), ":", "\\:");
    names += fmt::format("    '{}:{}'\n", command->name, summary);
    if (!command->passes_arguments) cases += zsh_command(*command);
  }
  return "#compdef udv udv-deep\n# Completion of udv for zsh; made by `udv pages`.\n"
         "_udv() {\n"
         "  local curcontext=$curcontext state state_descr line\n"
         "  typeset -A opt_args\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  _arguments -C '(- *)--help[Print the commands and exit]' \\\n"
         "    '(- *)--version[Print the version and exit]' \\\n"
         "    '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n"
         "    command) _describe -t commands command commands; return ;;\n"
         "    argument) ;;\n"
         "    *) return ;;\n"
         "  esac\n"
         "  case $words[1] in\n" +
         cases +
         "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "_udv \"$@\"\n";
}

std::string fish_completion(const Commands& commands) {
  std::string text =
      "# Completion of udv for fish; made by `udv pages`.\ncomplete -c udv -f\n"
      "complete -c udv -l help -d 'Print help and exit'\n"
      "complete -c udv -n __fish_use_subcommand -l version "
      "-d 'Print the version and exit'\n";
  for (const Command* command : shown(commands)) text += fish_command(*command);
  return text + "complete -c udv-deep -w udv\n";
}

}  // namespace udv::cli

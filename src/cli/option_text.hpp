// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace udv::cli {

/// "--max-rank", or the bare name of a positional option.
std::string flag_text(const Option& option);

/// What an option means, in one line: help, unit and choices.
std::string meaning_text(const Option& option);

/// The value in a synopsis: "NUMBER", "FILE"; empty for switches.
std::string value_text(const Option& option);

/// `udv complete [OPTION]... file`
std::string synopsis_text(const Command& command);

/// What an option takes as its value, for completion.
enum class ValueKind { kNothing, kChoice, kFile, kFolder, kOther };
ValueKind value_kind(const Option& option);

/// Words that completion offers: the choices, or the words among other values ("auto|REAL").
std::vector<std::string> suggested_words(const Option& option);

/// The option --config, which every job has beside its table.
Option config_option();

/// Options under one heading.
struct OptionGroup {
  std::string heading;
  std::vector<Option> options;
};

/// Positional options of a command.
std::vector<Option> arguments_of(const Command& command);
/// The flags of a command by group; those of every run come last.
std::vector<OptionGroup> flags_of(const Command& command);

}  // namespace udv::cli

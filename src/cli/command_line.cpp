// SPDX-License-Identifier: MIT
// The one place that knows the library which parses command lines.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/option_text.hpp"
#include "core/communicator.hpp"
#include "core/require.hpp"
#include "jobs/config_file.hpp"
#include "udv/core/version.hpp"

namespace udv::cli {
namespace {

constexpr const char* kNotWritten = "standard output: cannot be written";

// Not fmt::print, which throws where standard error is closed.
int fail(ExitCode code, const std::string& text) {
  std::fputs(("udv: " + text + "\n").c_str(), stderr);
  return code;
}

int wrong_usage(const std::string& text) {
  std::fputs((text + "\nRun with --help for more information.\n").c_str(), stderr);
  return kWrongUsage;
}

// A full disk is an error; a stream that the caller closed is not.
bool is_written(std::FILE* stream) {
  const bool written = std::fflush(stream) == 0 && std::ferror(stream) == 0;
  const bool open = fcntl(fileno(stream), F_GETFD) != -1;
  return written || !open;
}

// Which settings processes that work together need not have in common.
bool may_differ(const Option& option) {
  return option.name.empty() || option.name == "threads" || option.name == "out";
}

// "with --name value", or "without --name" where the text is empty.
std::string given_text(const Option& option) {
  const Setting value = option.get();
  const auto* const text = std::get_if<std::string>(&value);
  if (text && text->empty()) return "without " + flag_text(option);
  return "with " + settings_text({{flag_text(option), value}});
}

// Each would go its own way: different numbers, or messages of different sizes. Collective.
void require_alike(const OptionTable& table) {
  if (communicator().is_alone()) return;
  constexpr char kEnd = '\0';
  std::string own;
  for (const Option& option : table.options())
    if (!may_differ(option)) own += given_text(option) + kEnd;
  const std::vector<std::string> all = gathered(own);
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    std::istringstream first(all[0]), other(all[r]);
    for (std::string a, b; std::getline(first, a, kEnd) && std::getline(other, b, kEnd);)
      require<IoError>(a == b, "rank 0 was started ", a, ", rank ", r, " ", b,
                       ": the same options expected");
  }
}

/// The flags of one command while the library reads them.
class Flags {
 public:
  Flags(CLI::App& program, Command& command) : command_(command) {
    app_ = program.add_subcommand(command.name, command.summary);
    app_->failure_message(CLI::FailureMessage::simple);
    app_->formatter_fn([&command](const CLI::App*, const std::string&, CLI::AppFormatMode) {
      return command_help(command);
    });
    if (command.passes_arguments) {
      app_->allow_extras();
      app_->set_help_flag();
    }
    for (Option& option : command.table.options())
      if (!option.name.empty()) add(option);
    if (command.takes_config)
      app_->add_option(flag_text(config_option()), config_)
          ->type_name("FILE")
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  bool parsed() const { return app_->parsed(); }

  // Config files first, so that flags win.
  void apply() {
    for (const std::string& path : config_) jobs::apply_config(path, command_.table);
    for (Given& given : given_) {
      if (given.flag->count() == 0) continue;
      if (given.option->is_switch) given.words = {given.truth ? "true" : "false"};
      if (!given.option->bare_word.empty()) given.words = {given.word};
      for (const std::string& word : given.words) command_.table.set(given.option->name, word);
    }
    const std::string missing = command_.table.missing();
    if (!missing.empty()) throw CLI::RequiredError(flag_text(*command_.table.find(missing)));
  }

 private:
  struct Given {
    Option* option = nullptr;
    CLI::Option* flag = nullptr;
    std::vector<std::string> words;
    std::string word;  // of a flag that may stand alone
    bool truth = false;
  };

  void add(Option& option) {
    Given& given = given_.emplace_back();
    given.option = &option;
    const std::string name = flag_text(option);
    if (option.is_switch) {
      given.flag = app_->add_flag(name, given.truth);
    } else if (!option.bare_word.empty()) {
      given.flag = app_->add_flag(name + "{" + option.bare_word + "}", given.word);
    } else {
      given.flag = app_->add_option(name, given.words);
      given.flag->type_name(option.value_name)->type_size(1);
      given.flag->allow_extra_args(option.takes_list)->delimiter('\0');
      given.flag->expected(1, option.takes_list ? CLI::detail::expected_max_vector_size : 1);
      given.flag->multi_option_policy(option.takes_list ? CLI::MultiOptionPolicy::TakeAll
                                                        : CLI::MultiOptionPolicy::TakeLast);
    }
  }

  Command& command_;
  CLI::App* app_;
  std::deque<Given> given_;
  std::vector<std::string> config_;
};

class Program {
 public:
  explicit Program(std::vector<Command> commands) : commands_(std::move(commands)) {
    app_.set_version_flag("--version", version());
    app_.require_subcommand(1);
    app_.formatter_fn([this](const CLI::App*, const std::string&, CLI::AppFormatMode) {
      return program_help(commands_);
    });
    app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    for (Command& command : commands_) flags_.emplace_back(app_, command);
  }

  ExitCode run(std::vector<std::string> arguments) {
    take_words(arguments);
    check_command(arguments);
    join_words(arguments);
    std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
    app_.parse(arguments);
    for (size_t c = 0; c < commands_.size(); ++c) {
      if (!flags_[c].parsed()) continue;
      flags_[c].apply();
      require_alike(commands_[c].table);
      const ExitCode code = commands_[c].run();
      require<IoError>(is_written(stdout), kNotWritten);
      return code;
    }
    return kWrongUsage;
  }

  // Prints help, the version, or what is wrong.
  int answer(const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app_.exit(error);
      return is_written(stdout) ? kDone : fail(kBadInput, kNotWritten);
    }
    return wrong_usage(error.what() + suggestion(error));
  }

  // An option that is no flag goes by its bare name.
  int answer(const OptionError& error) const {
    bool is_flag = false;
    for (size_t c = 0; c < commands_.size(); ++c)
      for (const Option& option : commands_[c].table.options())
        is_flag =
            is_flag || (flags_[c].parsed() && option.name == error.name() && !option.positional);
    return wrong_usage((is_flag ? "--" : "") + std::string(error.what()));
  }

 private:
  // "help", "help COMMAND" and "version" as people know them from other programs.
  static void take_words(std::vector<std::string>& arguments) {
    if (arguments.empty()) return;
    if (arguments == std::vector<std::string>{"version"}) arguments = {"--version"};
    if (arguments[0] != "help") return;
    if (arguments.size() == 1)
      arguments = {"--help"};
    else
      arguments = {arguments[1], "--help"};
  }

  // "--name word" as "--name=word" where the flag may stand alone: the library would take the word
  // for an argument.
  void join_words(std::vector<std::string>& arguments) const {
    const auto is_word = [this](const std::string& flag, const std::string& word) {
      for (const Command& command : commands_)
        for (const Option& option : command.table.options())
          if (!option.bare_word.empty() && flag_text(option) == flag &&
              std::find(option.choices.begin(), option.choices.end(), word) != option.choices.end())
            return true;
      return false;
    };
    for (size_t i = 0; i + 1 < arguments.size(); ++i)
      if (is_word(arguments[i], arguments[i + 1])) {
        arguments[i] += "=" + arguments[i + 1];
        arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
  }

  // The library only says that a command is missing.
  void check_command(const std::vector<std::string>& arguments) const {
    if (arguments.empty() || arguments[0].starts_with("-")) return;
    std::vector<std::string> names;
    for (const Command& command : commands_) names.push_back(command.name);
    if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return;
    throw CLI::ValidationError("'" + arguments[0] + "' found, one of the commands expected" +
                               did_you_mean(arguments[0], names));
  }

  // For flags that no option has.
  std::string suggestion(const CLI::ParseError& error) const {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return "";
    const std::string text = error.what();
    const size_t at = text.rfind("--");
    if (at == text.npos) return "";
    const std::string name = text.substr(at + 2, text.find_first_of(" =", at) - at - 2);
    for (size_t c = 0; c < commands_.size(); ++c) {
      if (!flags_[c].parsed()) continue;
      std::vector<std::string> known;
      for (const Option& option : commands_[c].table.options())
        if (!option.positional) known.push_back(option.name);
      const std::string nearest = nearest_name(name, known);
      return nearest.empty() ? "" : "; did you mean --" + nearest + "?";
    }
    return "";
  }

  std::vector<Command> commands_;
  CLI::App app_{"", "udv"};
  std::deque<Flags> flags_;
};

}  // namespace

int run_program(std::vector<Command> commands, const std::vector<std::string>& arguments) {
  Program program(std::move(commands));
  try {
    return program.run(arguments);
  } catch (const CLI::ParseError& error) {
    return program.answer(error);
  } catch (const OptionError& error) {
    return program.answer(error);
  } catch (const IoError& error) {
    return fail(kBadInput, error.what());
  } catch (const InvalidArgument& error) {
    return fail(kBadInput, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(kBadInput, error.path1().string() + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    return fail(kBadInput, "not enough memory for a problem of this size");
  } catch (const std::exception& error) {
    return fail(kInternalError, error.what());
  }
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"
#include "udv/core/options.hpp"

namespace udv::cli {

/// One command of the program: what it is called, its options, and what runs it once they are set.
struct Command {
  std::string name, summary;
  std::string example;  ///< a whole command line
  OptionTable table;
  std::function<ExitCode()> run;
  bool takes_config = false;      ///< --config FILE
  bool passes_arguments = false;  ///< another program reads its flags
  bool hidden = false;            ///< not in the list of commands
};

/// A command that only has options of its own.
template <typename Options>
Command plain_command(std::string name, std::string summary, ExitCode (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  Command command;
  command.name = std::move(name);
  command.summary = std::move(summary);
  describe(command.table, *options);
  command.run = [options, run] { return run(*options); };
  return command;
}

/// A command that runs a job: its input and options, those of the run and of the terminal.
template <typename Input, typename Options>
Command job_command(std::string name, std::string summary,
                    ExitCode (*run)(const Input&, const Options&, Terminal&)) {
  struct Settings {
    Input input;
    Options options;
    jobs::RunOptions run;
    TerminalOptions terminal;
  };
  const auto settings = std::make_shared<Settings>();
  Command command;
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.takes_config = true;
  describe(command.table, settings->input);
  describe(command.table, settings->options);
  describe(command.table, settings->run);
  describe(command.table, settings->terminal);
  command.run = [settings, run, name = command.name] {
    Terminal terminal(name, settings->terminal, settings->run);
    return run(settings->input, settings->options, terminal);
  };
  return command;
}

/// Reads the command line, runs the command that it names and returns the exit code of the program.
int run_program(std::vector<Command> commands, const std::vector<std::string>& arguments);

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "cli/processes.hpp"

#include <cstdio>
#include <cstdlib>

#include "udv/core/options.hpp"

namespace udv::cli {
namespace {

// Of what is being thrown.
ExitCode code_of_error() {
  try {
    throw;
  } catch (const OptionError&) {
    return kWrongUsage;
  } catch (const InvalidArgument&) {
    return kBadInput;
  } catch (const IoError&) {
    return kBadInput;
  } catch (const std::exception&) {
    return kInternalError;
  }
}

// At once: a GPU, or a thread of gloo, may wait for the lost process for ever.
[[noreturn]] void leave(ExitCode code) {
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(code);
}

}  // namespace

ExitCode run_in_processes(
    Terminal& terminal, double timeout,
    const std::function<ExitCode(const std::shared_ptr<deep::Processes>&)>& command) {
  std::shared_ptr<deep::Processes> processes;
  try {
    processes = deep::Processes::from_environment(timeout);
  } catch (const deep::ReportedByRank0&) {
    leave(kBadInput);
  }
  if (!processes) return command(nullptr);
  if (!processes->is_first()) terminal.be_silent();
  try {
    return command(processes);
  } catch (const deep::LostProcess& error) {
    terminal.end();
    if (processes->should_report())
      std::fputs(
          ("udv: " + std::string(error.what()) + "; --resume continues from the last checkpoint\n")
              .c_str(),
          stderr);
    leave(kBadInput);
  } catch (const std::exception&) {
    if (processes->should_report()) throw;
    leave(code_of_error());
  }
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/config_file.hpp"
#include "cli/deep_program.hpp"
#include "udv/core/error.hpp"
#include "udv/core/version.hpp"

namespace udv::cli {
namespace {

using Setup = Run (*)(CLI::App&);
constexpr Setup kCommands[] = {setup_demo,     setup_complete,  setup_sense,   setup_phase,
                               setup_ptycho,   setup_train,     setup_predict, setup_evaluate,
                               setup_sweep,    setup_prune,     setup_inspect, setup_export,
                               setup_planted,  setup_reproduce, setup_report,  setup_watch,
                               setup_finetune, setup_lora,      setup_generate};

// Not fmt::print, which throws where standard error is closed.
int fail(ExitCode code, const std::string& text) {
  std::fputs(("udv: " + text + "\n").c_str(), stderr);
  return code;
}

// CLI11 only says that a command is missing.
void check_command(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == arguments[0]) return;
  throw CLI::ValidationError("'" + arguments[0] + "' found, one of the commands expected");
}

// A full disk is an error; a stream that the caller closed is not.
bool is_written(std::FILE* stream) {
  const bool written = std::fflush(stream) == 0 && std::ferror(stream) == 0;
  const bool open = fcntl(fileno(stream), F_GETFD) != -1;
  return written || !open;
}
constexpr const char* kNotWritten = "standard output: cannot be written";

int run(int argc, char** argv) {
  CLI::App program(
      "Recovers low-rank matrices and trains low-rank networks without being told the rank.",
      "udv");
  program.set_version_flag("--version", version());
  program.require_subcommand(1);
  program.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  std::vector<Run> runs;
  for (const Setup setup : kCommands) runs.push_back(setup(program));
  try {
    std::vector<std::string> arguments = expand_config({argv + 1, argv + argc});
    check_command(program, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    program.parse(arguments);
    const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
    for (size_t c = 0; c < commands.size(); ++c)
      if (commands[c]->parsed()) {
        const ExitCode code = runs[c]();
        require<IoError>(is_written(stdout), kNotWritten);
        return code;
      }
    return kWrongUsage;
  } catch (const CLI::ParseError& error) {
    const auto code = program.exit(error);  // prints help, version or the message
    if (code != 0) return kWrongUsage;
    return is_written(stdout) ? kDone : fail(kBadInput, kNotWritten);
  } catch (const IoError& error) {
    return fail(kBadInput, error.what());
  } catch (const InvalidArgument& error) {
    return fail(kBadInput, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kBadInput, "not enough memory for a problem of this size");
  } catch (const std::exception& error) {
    return fail(kInternalError, error.what());
  }
}

}  // namespace
}  // namespace udv::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not an end
  udv::cli::remember_arguments(argv);
  return udv::cli::run(argc, argv);
}

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "udv/deep/generate_job.hpp"

namespace udv::cli {
namespace {

// From the first piece of text on, Ctrl-C ends the text and not the program.
bool print_piece(const std::string& piece) {
  catch_interrupts();
  fmt::print("{}", piece);
  std::fflush(stdout);
  return !interrupted();
}

ExitCode run_generate(const jobs::GenerateInput& input, const jobs::GenerateJobOptions& options,
                      Terminal& terminal) {
  const auto result = jobs::generate(input, options, terminal.session(), print_piece);
  if (options.scores.empty()) fmt::print("\n");
  return result.outcome == jobs::Outcome::kInterrupted ? kInterrupted : kDone;
}

}  // namespace

Command generate_command() {
  Command command = job_command(
      "generate", "Continue a text with a language model, with or without adapter", run_generate);
  // It writes a text and no run.
  command.table.remove({"out", "resume", "force", "time-limit", "max-expand", "quiet", "report"});
  return command;
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "udv/jobs/planted.hpp"

#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"

namespace udv::cli {
namespace {

ExitCode run_planted(const jobs::PlantedInput& input, const jobs::PlantedJobOptions& options,
                     Terminal& terminal) {
  return show_recovery(terminal, jobs::planted(input, options, terminal.session()));
}

}  // namespace

Command planted_command() {
  return job_command("planted",
                     "Make up a problem whose answer is known, recover it and print the error",
                     run_planted);
}

}  // namespace udv::cli

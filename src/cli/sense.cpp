// SPDX-License-Identifier: MIT
#include "udv/jobs/sense.hpp"

#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"

namespace udv::cli {
namespace {

ExitCode run_sense(const jobs::SenseInput& input, const jobs::SenseOptions& options,
                   Terminal& terminal) {
  return show_recovery(terminal, jobs::sense(input, options, terminal.session()));
}

}  // namespace

Command sense_command() {
  return job_command("sense", "Recover a matrix from linear measurements <A_i, X> = b_i",
                     run_sense);
}

}  // namespace udv::cli

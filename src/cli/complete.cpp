// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"

namespace udv::cli {
namespace {

ExitCode run_complete(const jobs::CompleteInput& input, const jobs::CompleteOptions& options,
                      Terminal& terminal) {
  return show_recovery<double>(terminal, jobs::complete(input, options, terminal.session()));
}

}  // namespace

Command complete_command() {
  return job_command("complete", "Fill in a matrix from some of its entries", run_complete);
}

}  // namespace udv::cli

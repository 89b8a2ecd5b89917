// SPDX-License-Identifier: MIT
#include "udv/jobs/fold_in.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

ExitCode run_fold_in(const jobs::FoldInInput& input, const jobs::FoldInOptions& options,
                     Terminal& terminal) {
  const jobs::FoldInResult result = jobs::fold_in(input, options, terminal.session());
  if (!terminal.quiet()) {
    fmt::print("  {} new rows from {} entries in {}\n", result.rows.t.rows(), result.entries,
               report::duration(result.seconds));
    print_fact("results", result.folder.string());
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command fold_in_command() {
  return job_command("fold-in", "Add new rows to a completed matrix", run_fold_in);
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "udv/jobs/sweep.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/sweep_summary.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
namespace {

struct SweepFlags {
  bool summary = false;
};

void describe(OptionTable& table, SweepFlags& flags) {
  table
      .add("summary", flags.summary,
           "Print the table of a finished sweep, whose folder is given, and run nothing")
      .keeps_numbers();
}

void print_table(const jobs::SweepResult& result) {
  fmt::print("{}", sweep_summary(result.rows, result.dataset, isatty(STDOUT_FILENO) == 1));
}

// Where another part ends meanwhile, the page shows what it has added.
void leave_page(const std::filesystem::path& folder, const Terminal& terminal) {
  const std::filesystem::path run = folder / "run.json";
  for (std::string shown; std::filesystem::exists(run) && shown != io::read_bytes(run);) {
    shown = io::read_bytes(run);
    terminal.leave_report(folder);
  }
}

ExitCode run_sweep(const jobs::SweepInput& input, const SweepFlags& flags, Terminal& terminal) {
  if (flags.summary) {
    print_table(jobs::read_sweep_result(input.spec));
    return kDone;
  }
  const jobs::SweepResult result = jobs::sweep(input, terminal.session());
  if (result.outcome != jobs::Outcome::kInterrupted) {
    leave_page(result.folder, terminal);
    if (!terminal.quiet()) {
      print_table(result);
      const std::string finished =
          static_cast<Index>(result.rows.size()) < result.cells
              ? fmt::format("{} of {} runs finished", result.rows.size(), result.cells)
              : fmt::format("{} runs", result.cells);
      fmt::print("  {}, {} of them now; results in {}\n", finished, result.trained,
                 result.results.string());
      if (!result.model.empty()) print_fact("best model", result.model.string());
    }
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command sweep_command() {
  return job_command("sweep", "Train over variants, optimizers, learning rates, seeds and splits",
                     run_sweep);
}

}  // namespace udv::cli

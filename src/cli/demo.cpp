// SPDX-License-Identifier: MIT
#include "udv/jobs/demo.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

std::vector<std::string> table_row(const jobs::DemoRun& run) {
  const Recovery& r = run.recovery;
  const double fourth = r.spectrum.size() > 3 ? r.spectrum(3) / r.spectrum(0) : 0;
  return {run.label,
          std::to_string(r.rank),
          report::number(fourth),
          report::number(run.relative_error),
          std::to_string(r.iterations),
          fmt::format("{:.3g}", r.seconds)};
}

void print_problem(const PlantedOptions& problem) {
  fmt::print(
      "A {0} x {0} positive semidefinite matrix of rank {1}, {2} entries known (18 %).\n"
      "No method is given the rank; bm and udu start with {0} columns, auto mode with none.\n\n",
      problem.rows, problem.rank, problem.measurements);
}

void print_runs(const jobs::DemoResult& result) {
  std::vector<std::vector<std::string>> rows;
  std::vector<report::SpectrumLine> spectra;
  for (const jobs::DemoRun& run : result.runs) {
    rows.push_back(table_row(run));
    if (!run.options.rank_walk) spectra.push_back({run.name, run.recovery.spectrum});
  }
  fmt::print(
      "{}\n{}\n",
      report::table({"method", "rank", "σ₄/σ₁", "relative error", "iterations", "seconds"}, rows),
      report::spectrum_sketch(spectra));
  fmt::print("results in {}\n", result.folder.string());
}

ExitCode run_demo(const jobs::DemoInput& input, const jobs::DemoOptions& options,
                  Terminal& terminal) {
  const jobs::DemoResult result =
      jobs::demo(input, options, terminal.session(), [&](const PlantedOptions& problem) {
        if (!terminal.quiet()) print_problem(problem);
      });
  if (result.outcome == jobs::Outcome::kDone) {
    terminal.leave_report(result.folder);
    if (!terminal.quiet()) print_runs(result);
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command demo_command() {
  return job_command(
      "demo", "Solve the paper's completion problem with bm and udu; no files needed", run_demo);
}

}  // namespace udv::cli

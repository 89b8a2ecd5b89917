// SPDX-License-Identifier: MIT
#include "udv/jobs/evaluate.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"

namespace udv::cli {
namespace {

void print_summary(const jobs::EvaluateResult& result) {
  print_fact("rows", fmt::format("{}", result.rows));
  print_fact("loss", fmt::format("{:.6g}", result.loss));
  if (result.accuracy) print_fact("accuracy", fmt::format("{:.2f} %", 100 * *result.accuracy));
  if (result.rmse) print_fact("rmse", fmt::format("{:.6g} (in units of the target)", *result.rmse));
  print_fact("results", result.folder.string());
}

ExitCode run_evaluate(const jobs::ModelInput& input, const jobs::EvaluateOptions& options,
                      Terminal& terminal) {
  const jobs::EvaluateResult result = jobs::evaluate(input, options, terminal.session());
  if (!terminal.quiet()) print_summary(result);
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command evaluate_command() {
  return job_command("evaluate", "Measure a trained network on data with targets", run_evaluate);
}

}  // namespace udv::cli

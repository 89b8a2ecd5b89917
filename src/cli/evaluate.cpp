// SPDX-License-Identifier: MIT
#include "udv/jobs/evaluate.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/metrics_text.hpp"

namespace udv::cli {
namespace {

void print_summary(const jobs::EvaluateResult& result) {
  print_fact("rows", fmt::format("{}", result.rows));
  print_fact("loss", fmt::format("{:.6g}", result.loss));
  print_metrics(result.metrics, nullptr, result.class_names);
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

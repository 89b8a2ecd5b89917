// SPDX-License-Identifier: MIT
#include "udv/jobs/predict.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"

namespace udv::cli {
namespace {

ExitCode run_predict(const jobs::ModelInput& input, const jobs::PredictOptions& options,
                     Terminal& terminal) {
  const jobs::PredictResult result = jobs::predict(input, options, terminal.session());
  if (!terminal.quiet()) {
    fmt::print("  {} rows predicted\n", result.predictions.size());
    print_fact("results", result.file.string());
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command predict_command() {
  return job_command("predict", "Apply a trained network to other data", run_predict);
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

std::string with_deviation(const ErrorEstimate& error) {
  return fmt::format("{} +- {}", report::number(error.rmse), report::number(error.deviation));
}

// How well it does, beside biases alone and the mean.
SummaryLines error_lines(const jobs::CompleteResult& result) {
  SummaryLines lines;
  if (result.test)
    lines.emplace_back("biases, mean",
                       fmt::format("{}, {} (test rmse)", report::number(result.test->biases),
                                   report::number(result.test->mean)));
  if (!result.folds) return lines;
  const FoldErrors& folds = *result.folds;
  lines.emplace_back(fmt::format("{}-fold rmse", folds.folds.size()),
                     with_deviation(folds.answer()));
  lines.emplace_back("  biases alone", with_deviation(folds.biases()));
  lines.emplace_back("  the mean", with_deviation(folds.mean()));
  lines.emplace_back("", folds.sentence());
  return lines;
}

ExitCode run_complete(const jobs::CompleteInput& input, const jobs::CompleteOptions& options,
                      Terminal& terminal) {
  const jobs::CompleteResult result = jobs::complete(input, options, terminal.session());
  return show_recovery<double>(terminal, result, error_lines(result));
}

}  // namespace

Command complete_command() {
  return job_command("complete", "Fill in a matrix from some of its entries", run_complete);
}

}  // namespace udv::cli

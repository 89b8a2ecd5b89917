// SPDX-License-Identifier: MIT
#include "udv/jobs/train.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/metrics_text.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

std::string rows_text(const jobs::TrainJobResult& result) {
  std::string text = fmt::format("{} rows to learn from, ", result.training_rows);
  if (result.validation_rows > 0) text += fmt::format("{} to validate, ", result.validation_rows);
  return text + fmt::format("{} to test, {} features", result.test_rows, result.sizes.inputs);
}

std::string task_text(const jobs::TrainJobResult& result) {
  std::string text = result.task == net::Task::kRegression
                         ? fmt::format("regression, {} {}", result.sizes.outputs,
                                       result.sizes.outputs == 1 ? "target" : "targets")
                         : fmt::format("classification, {} classes", result.sizes.outputs);
  if (!result.task_reason.empty()) text += fmt::format(" ({}; --task sets it)", result.task_reason);
  return text;
}

std::string training_text(const jobs::TrainJobResult& result) {
  const net::TrainOptions& o = result.options;
  if (o.is_paper())
    return fmt::format("{}, learning rate {}, {} epochs, {}", o.optimizer, o.learning_rate,
                       result.history.size(), report::duration(result.seconds));
  std::string text =
      fmt::format("{}, learning rate {:.3g}, {} steps of {} rows", o.optimizer, o.learning_rate,
                  result.steps, o.batch > 0 ? o.batch : result.training_rows);
  if (result.validation_rows > 0) text += fmt::format(", best at {}", result.best_step);
  if (result.folds > 0)
    text += fmt::format(" (too few rows for a validation part: {}-fold cross-validation)",
                        result.folds);
  return text + ", " + report::duration(result.seconds);
}

void print_errors(const jobs::TrainJobResult& result) {
  if (result.options.is_paper()) {
    const double last = result.history.empty() ? NAN : result.history.back().test_loss;
    print_fact("test loss",
               fmt::format("{:.4g}  (mean of the last {} epochs; last {:.4g})", result.test_loss,
                           std::min(result.averaged_epochs, Index(result.history.size())), last));
  }
  print_metrics(result.metrics, &result.baseline, result.class_names);
}

void print_summary(const jobs::TrainJobResult& result) {
  const net::TrainOptions& training = result.options;
  const net::TrainFigures& figures = result.figures;
  print_fact("data", rows_text(result));
  print_fact("task", task_text(result));
  if (!result.target_reason.empty()) print_fact("target", result.target_reason);
  print_fact("network",
             fmt::format("{} {}, {} parameters{}", training.variant, to_string(result.sizes),
                         figures.parameters,
                         result.head_reason.empty() ? "" : " (" + result.head_reason + ")"));
  print_fact("training", training_text(result));
  print_errors(result);
  print_fact("spectrum", report::spectrum_text(figures.spectrum));
  print_fact("rank",
             fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                         figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
  if (training.is_strong())
    print_fact("price", "a strong bias to low rank costs accuracy: compare with a run without it");
  print_fact("live neurons", fmt::format("{}", figures.live_width));
  if (result.stop != net::TrainStop::kDone)
    print_fact("stopped", std::string(to_string(result.stop)));
  print_fact("results", result.folder.string());
}

ExitCode run_train(const jobs::TrainInput& input, const jobs::TrainJobOptions& options,
                   Terminal& terminal) {
  const jobs::TrainJobResult result = jobs::train(input, options, terminal.session());
  if (result.outcome != jobs::Outcome::kInterrupted) {
    terminal.leave_report(result.folder);
    if (!terminal.quiet()) print_summary(result);
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command train_command() {
  return job_command("train", "Train a low-rank network on a table, arrays or images", run_train);
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include "udv/jobs/train.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

void print_summary(const jobs::TrainJobOptions& options, const jobs::TrainJobResult& result) {
  const net::TrainOptions& training = options.training;
  const net::TrainFigures& figures = result.figures;
  print_fact("data", fmt::format("{} rows to learn from, {} to test, {} features",
                                 result.training_rows, result.test_rows, result.sizes.inputs));
  print_fact("network", fmt::format("{} {}, {} parameters", training.variant,
                                    to_string(result.sizes), figures.parameters));
  print_fact("training", fmt::format("{}, learning rate {}, {} epochs, {}", training.optimizer,
                                     training.learning_rate, result.history.size(),
                                     report::duration(result.seconds)));
  const double last = result.history.empty() ? NAN : result.history.back().test_loss;
  print_fact("test loss",
             fmt::format("{:.4g}  (mean of the last {} epochs; last {:.4g})", result.test_loss,
                         std::min(result.averaged_epochs, Index(result.history.size())), last));
  if (result.task == net::Task::kClassification)
    print_fact("test accuracy", fmt::format("{:.2f} %", 100 * result.test_accuracy));
  print_fact("spectrum", report::spectrum_text(figures.spectrum));
  print_fact("rank",
             fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                         figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
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
    if (!terminal.quiet()) print_summary(options, result);
  }
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command train_command() {
  return job_command("train", "Train a low-rank network on a table, arrays or images", run_train);
}

}  // namespace udv::cli

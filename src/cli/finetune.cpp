// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/processes.hpp"
#include "udv/core/text.hpp"
#include "udv/deep/finetune_job.hpp"
#include "udv/net/head.hpp"

namespace udv::cli {
namespace {

std::string network_text(const jobs::FinetuneJobResult& result, bool frozen) {
  return fmt::format("{}{}, head {} {}, {} parameters in all",
                     result.backbone.empty() ? "built-in network" : result.backbone,
                     frozen ? " (frozen)" : "", result.variant, to_string(result.sizes),
                     result.parameters);
}

void print_summary(const jobs::FinetuneJobOptions& options, const jobs::FinetuneJobResult& result) {
  const net::TrainOptions training = options.tuning.with_steps(result.training_images).training;
  const net::TrainFigures& figures = result.figures;
  print_fact("data", fmt::format("{} pictures to learn from, {} to test, {} classes",
                                 result.training_images, result.test_images, result.classes));
  print_fact("network",
             network_text(result, !result.backbone.empty() && !options.tuning.trainable));
  print_fact("training",
             fmt::format("{}, learning rate {:.3g}, {} epochs, {}, {:.0f} images/s on {}",
                         training.optimizer, training.learning_rate, result.history.size(),
                         short_duration(result.seconds), result.images_per_second, result.device));
  print_fact("test accuracy",
             fmt::format("{:.2f} %  (mean of the last {} epochs)", 100 * result.test_accuracy,
                         std::min(result.averaged_epochs, Index(result.history.size()))));
  print_fact("spectrum", short_spectrum(figures.spectrum));
  print_fact("rank",
             fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                         figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
  for (const net::BlockInfo& block : result.blocks)
    print_fact("block", fmt::format("{}: {} neurons, {} carry 99 % of the energy", block.name,
                                    block.width, net::energy_rank(block.spectrum, 0.99)));
  if (result.stop != net::TrainStop::kDone)
    print_fact("stopped", std::string(to_string(result.stop)));
  print_fact("results", result.folder.string());
}

ExitCode finetune_in_process(const jobs::FinetuneInput& input,
                             const jobs::FinetuneJobOptions& options, Terminal& terminal) {
  const jobs::FinetuneJobResult result = jobs::finetune(input, options, terminal.session());
  if (terminal.silent()) return terminal.exit_code(result.outcome, result.folder);
  if (options.evaluate) {
    print_fact("test loss", fmt::format("{:.6g}", result.test_loss));
    print_fact("test accuracy", fmt::format("{:.4f}", result.test_accuracy));
    return kDone;
  }
  if (result.outcome != jobs::Outcome::kInterrupted) {
    terminal.leave_report(result.folder);
    if (!terminal.quiet()) print_summary(options, result);
  }
  return terminal.exit_code(result.outcome, result.folder);
}

ExitCode run_finetune(const jobs::FinetuneInput& input, const jobs::FinetuneJobOptions& given,
                      Terminal& terminal) {
  return run_in_processes(terminal, given.tuning.placement.process_timeout,
                          [&](const std::shared_ptr<deep::Processes>& processes) {
                            jobs::FinetuneJobOptions options = given;
                            options.tuning.placement.processes = processes;
                            return finetune_in_process(input, options, terminal);
                          });
}

}  // namespace

Command finetune_command() {
  return job_command("finetune",
                     "Train a head on a pretrained backbone, or a small network, on pictures",
                     run_finetune);
}

}  // namespace udv::cli

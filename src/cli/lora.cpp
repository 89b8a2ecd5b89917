// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/processes.hpp"
#include "udv/core/text.hpp"
#include "udv/deep/lora_job.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

std::string memory_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9)
                      : fmt::format("{:.0f} MB", bytes / 1e6);
}

void print_facts(const jobs::LoraInput& input, const jobs::LoraJobOptions& options,
                 const jobs::LoraJobResult& result) {
  const deep::LoraOptions& training = options.training;
  print_fact("model",
             fmt::format("{}: {} layers of {}, {} parameters", input.model.model,
                         result.config.layers, result.config.dim, result.config.parameters()));
  print_fact("texts", fmt::format("{} tokens to learn from, {} to test", result.train_tokens,
                                  result.eval_tokens));
  const auto modules = options_for(options, options.methods.front(), options.ranks.front())
                           .resolved(1)
                           .adapter.module_names();
  print_fact("training", fmt::format("{} epochs, batches of {}, on {}", training.epochs,
                                     training.batch, fmt::join(modules, ",")));
}

std::vector<std::string> table_row(const jobs::LoraTraining& training) {
  const auto pruned = [&](const char* ratio) {
    const auto at = training.perplexity_at_ratio.find(ratio);
    return at == training.perplexity_at_ratio.end() ? "-" : fmt::format("{:.3f}", at->second);
  };
  return {training.method,
          fmt::format("{}", training.rank),
          fmt::format("{} {:.3g}", training.optimizer, training.learning_rate),
          fmt::format("{}", training.parameters),
          fmt::format("{:.3f}", training.perplexity_before),
          fmt::format("{:.3f}", training.perplexity),
          pruned("0.5"),
          pruned("0.25"),
          pruned("0.1"),
          fmt::format("{:.0f}", training.tokens_per_second),
          memory_text(training.peak_memory),
          short_duration(training.seconds)};
}

void print_trainings(const jobs::LoraInput& input, const jobs::LoraJobOptions& options,
                     const jobs::LoraJobResult& result) {
  print_facts(input, options, result);
  std::vector<std::vector<std::string>> rows;
  for (const jobs::LoraTraining& training : result.trainings) rows.push_back(table_row(training));
  fmt::print("\n{}\n",
             report::table({"perplexity", "rank", "steps", "parameters", "before", "after",
                            "at 1/2", "at 1/4", "at 1/10", "tokens/s", "memory", "time"},
                           rows));
  print_fact("results", result.folder.string());
}

// The answer to a question: printed whatever the terminal is asked to leave out.
void print_loss(const jobs::LoraJobResult& result) {
  print_fact("tokens", fmt::format("{}", result.eval_tokens));
  print_fact("loss", fmt::format("{:.9g}", *result.loss));
  print_fact("perplexity", fmt::format("{:.9g}", std::exp(*result.loss)));
}

ExitCode lora_in_process(const jobs::LoraInput& input, const jobs::LoraJobOptions& options,
                         Terminal& terminal) {
  const jobs::LoraJobResult result = jobs::lora(input, options, terminal.session());
  if (terminal.silent()) return terminal.exit_code(result.outcome, result.folder);
  if (!terminal.quiet() && !options.export_base.empty())
    print_fact("model", "written to " + options.export_base);
  if (!terminal.quiet() && !result.exported.empty())
    print_fact("results", result.exported.string());
  if (result.loss) print_loss(result);
  if (!result.trainings.empty() && result.outcome != jobs::Outcome::kInterrupted) {
    terminal.leave_report(result.folder);
    if (!terminal.quiet()) print_trainings(input, options, result);
  }
  return terminal.exit_code(result.outcome, result.folder);
}

ExitCode run_lora(const jobs::LoraInput& given, const jobs::LoraJobOptions& options,
                  Terminal& terminal) {
  return run_in_processes(terminal, given.model.placement.process_timeout,
                          [&](const std::shared_ptr<deep::Processes>& processes) {
                            jobs::LoraInput input = given;
                            input.model.placement.processes = processes;
                            return lora_in_process(input, options, terminal);
                          });
}

}  // namespace

Command lora_command() {
  return job_command("lora",
                     "Train LoRA-UDV, LoRA and AdaLoRA adapters of a LLaMA model and prune them",
                     run_lora);
}

}  // namespace udv::cli

// SPDX-License-Identifier: MIT
#include <csignal>

#include "cli/commands.hpp"
#include "cli/deep_program.hpp"

namespace {

using udv::cli::Command;

constexpr Command (*kCommands[])() = {
    udv::cli::demo_command,     udv::cli::complete_command,  udv::cli::sense_command,
    udv::cli::phase_command,    udv::cli::ptycho_command,    udv::cli::train_command,
    udv::cli::predict_command,  udv::cli::evaluate_command,  udv::cli::sweep_command,
    udv::cli::prune_command,    udv::cli::inspect_command,   udv::cli::export_command,
    udv::cli::planted_command,  udv::cli::reproduce_command, udv::cli::report_command,
    udv::cli::watch_command,    udv::cli::finetune_command,  udv::cli::lora_command,
    udv::cli::generate_command};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not an end
  udv::cli::remember_arguments(argv);
  std::vector<Command> commands;
  for (Command (*const make)() : kCommands) commands.push_back(make());
  return udv::cli::run_program(std::move(commands), {argv + 1, argv + argc});
}

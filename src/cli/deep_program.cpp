// SPDX-License-Identifier: MIT
#include "cli/deep_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands.hpp"

namespace udv::cli {
namespace {

char** given_arguments = nullptr;

// Empty where the system does not tell.
std::filesystem::path deep_program() {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown ? std::filesystem::path() : self.parent_path() / "udv-deep";
}

}  // namespace

bool has_deep_program() {
  std::error_code unknown;
  return std::filesystem::exists(deep_program(), unknown);
}

void remember_arguments(char** arguments) {
  given_arguments = arguments;
}

void go_on_as_deep_program() {
  if (!has_deep_program()) return;
  // LibTorch's threads wait in a loop otherwise, and on a busy machine take the cores from those
  // that work: four times slower.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  execv(deep_program().c_str(), given_arguments);
}

#ifndef UDV_WITH_DEEP
namespace {

// Flags and help are those of udv-deep.
Run deep_command(CLI::App& program, const std::string& name, const char* text) {
  CLI::App* const command = program.add_subcommand(name, text);
  command->allow_extras();
  command->set_help_flag();
  return [name]() -> ExitCode {
    go_on_as_deep_program();
    throw CLI::ValidationError(
        name,
        "this program was built without the LibTorch component; `make deep` builds it with it");
  };
}

}  // namespace

Run setup_finetune(CLI::App& program) {
  return deep_command(program, "finetune",
                      "Trains a head on a pretrained backbone, or a small network, on pictures");
}
Run setup_lora(CLI::App& program) {
  return deep_command(program, "lora",
                      "Trains LoRA and LoRA-UDV adapters of a LLaMA model and prunes them");
}
Run setup_generate(CLI::App& program) {
  return deep_command(program, "generate",
                      "Lets a language model, with an adapter or without, go on");
}
#endif

}  // namespace udv::cli

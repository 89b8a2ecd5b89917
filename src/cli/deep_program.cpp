// SPDX-License-Identifier: MIT
#include "cli/deep_program.hpp"

#include <unistd.h>

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
  if (has_deep_program()) execv(deep_program().c_str(), given_arguments);
}

#ifndef UDV_WITH_DEEP
// Flags and help are those of udv-deep.
Run setup_finetune(CLI::App& program) {
  CLI::App* const command = program.add_subcommand(
      "finetune", "Trains a head on a pretrained backbone, or a small network, on pictures");
  command->allow_extras();
  command->set_help_flag();
  return []() -> ExitCode {
    go_on_as_deep_program();
    throw CLI::ValidationError(
        "finetune",
        "this program was built without the LibTorch component; `make deep` builds it with it");
  };
}
#endif

}  // namespace udv::cli

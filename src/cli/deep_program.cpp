// SPDX-License-Identifier: MIT
#include "cli/deep_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/commands.hpp"
#ifdef UDV_WITH_DEEP
#include "udv/deep/calibration_job.hpp"
#endif

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

void continue_as_deep_program() {
  if (!has_deep_program()) return;
  // LibTorch's threads wait in a loop otherwise, and on a busy machine take the cores from those
  // that work: four times slower.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  // Where processes do not find each other, we say it in one line, and LibTorch in three.
  setenv("GLOG_minloglevel", "3", 0);
  setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  execv(deep_program().c_str(), given_arguments);
}

#ifdef UDV_WITH_DEEP
void prefer_deep_program() {}

std::function<net::Calibration(const std::string&, const std::string&)> text_calibrator() {
  return [](const std::string& adapter, const std::string& text) {
    return jobs::calibrate_adapter(adapter, text);
  };
}
#else
std::function<net::Calibration(const std::string&, const std::string&)> text_calibrator() {
  continue_as_deep_program();
  return {};
}

void prefer_deep_program() {
  continue_as_deep_program();
}

namespace {

// Flags and help are those of udv-deep.
Command deep_command(const std::string& name, const char* summary) {
  Command command;
  command.name = name;
  command.summary = summary;
  command.passes_arguments = true;
  command.run = [name]() -> ExitCode {
    continue_as_deep_program();
    throw OptionError(name,
                      "this program was built without the LibTorch component; `make deep` adds it");
  };
  return command;
}

}  // namespace

Command finetune_command() {
  return deep_command("finetune",
                      "Train a head on a pretrained backbone, or a small network, on pictures");
}
Command lora_command() {
  return deep_command("lora",
                      "Train LoRA-UDV, LoRA and AdaLoRA adapters of a LLaMA model and prune them");
}
Command generate_command() {
  return deep_command("generate", "Continue a text with a language model, with or without adapter");
}
#endif

}  // namespace udv::cli

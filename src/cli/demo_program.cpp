// SPDX-License-Identifier: MIT
// `udv demo` alone, for newcomers: the program of `make demo`, half as much to compile as all
// commands.
#include "cli/commands.hpp"

int main(int argc, char** argv) {
  std::vector<udv::cli::Command> commands;
  commands.push_back(udv::cli::demo_command());
  commands.front().example = "udv demo";
  return udv::cli::run_program(std::move(commands), {argv + 1, argv + argc});
}

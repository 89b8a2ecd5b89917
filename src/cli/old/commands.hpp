// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/exit_code.hpp"

namespace udv::cli {

/// A command adds itself to the program and returns what runs it.
using Run = std::function<ExitCode()>;

Run setup_demo(CLI::App& program);
Run setup_complete(CLI::App& program);
Run setup_sense(CLI::App& program);
Run setup_phase(CLI::App& program);
Run setup_ptycho(CLI::App& program);
Run setup_train(CLI::App& program);
Run setup_predict(CLI::App& program);
Run setup_evaluate(CLI::App& program);
Run setup_sweep(CLI::App& program);
Run setup_prune(CLI::App& program);
Run setup_inspect(CLI::App& program);
Run setup_export(CLI::App& program);
Run setup_planted(CLI::App& program);
Run setup_report(CLI::App& program);
Run setup_reproduce(CLI::App& program);
Run setup_watch(CLI::App& program);
Run setup_finetune(CLI::App& program);
Run setup_lora(CLI::App& program);
Run setup_generate(CLI::App& program);

}  // namespace udv::cli

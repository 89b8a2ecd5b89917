// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "cli/terminal.hpp"
#include "udv/deep/processes.hpp"

namespace udv::cli {

/// Runs a command in the processes that torchrun has started: it gets them, or nullptr where there
/// is only this one. Only the first one prints; one of them tells what is wrong.
ExitCode run_in_processes(
    Terminal& terminal, double timeout,
    const std::function<ExitCode(const std::shared_ptr<deep::Processes>&)>& command);

}  // namespace udv::cli

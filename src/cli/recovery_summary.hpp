// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/terminal.hpp"
#include "udv/jobs/recovery_result.hpp"

namespace udv::cli {

/// More lines for a summary: name and value.
using SummaryLines = std::vector<std::pair<std::string, std::string>>;

/// The report and the summary of a job that recovered a matrix, unless it was interrupted.
template <typename Scalar>
ExitCode show_recovery(Terminal& terminal, const jobs::RecoveryResult<Scalar>& result,
                       const SummaryLines& more = {});

}  // namespace udv::cli

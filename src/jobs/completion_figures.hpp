// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "jobs/complete_input.hpp"
#include "udv/jobs/session.hpp"

/// What run.json and held_out.csv say about how well a completion does.
namespace udv::jobs {

/// The errors on the test entries, where there are some; sets test_rmse.
std::optional<HeldOutErrors> test_errors(Run& run, const CompleteTask& task, Recovery& recovery);

/// What cross-validation has found, or that there was no time for it.
void add_fold_figures(Run& run, const CompleteTask& task, const Recovery& recovery,
                      const std::optional<FoldErrors>& folds);

/// The rows and columns that a noisy answer knows least about.
void add_weak_lines(Run& run, const CompleteTask& task, const Recovery& recovery);

}  // namespace udv::jobs

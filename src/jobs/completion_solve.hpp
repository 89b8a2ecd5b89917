// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "jobs/complete_input.hpp"
#include "udv/jobs/complete.hpp"
#include "udv/recover/recover.hpp"

namespace udv::jobs {

/// The answer of a completion, and what cross-validation says of it where it was asked for.
struct CompletionAnswer {
  Recovery recovery;
  std::optional<FoldErrors> folds;
};

/// recover() for entries, symmetric and indefinite ones included.
Recovery solve_entries(const Entries& entries, const CompleteOptions& options,
                       const RecoverHooks& hooks);

/// How many entries several processes share out among them in the solve of this task; 0 where each
/// has all. Collective.
Index entries_shared_out(const CompleteTask& task, const CompleteOptions& options);

/// Throws where the settings make no sense for these entries. Sorts them by rows. `spread`: several
/// processes have those of their own rows.
void check_entries(Entries& entries, const CompleteOptions& options, bool spread);

/// Solves for all entries, then once for each fold without its entries. A checkpoint of the run
/// holds the folds that are done. An earlier answer is the start, but for folds: it has seen their
/// entries. An interrupted solve is handed on without folds. The entries of the task are empty
/// meanwhile and sorted by rows afterwards, on rank 0 where several processes have shared them.
CompletionAnswer solve_completion(Run& run, CompleteTask& task, const CompleteOptions& options);

}  // namespace udv::jobs

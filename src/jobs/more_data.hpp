// SPDX-License-Identifier: MIT
#pragma once

#include "jobs/complete_input.hpp"

namespace udv::jobs {

/// Entries of the run `input.from`, read again from its files, and those of `input.file` after
/// them; where both have a value for a place, the later one holds. Rows and columns of the run keep
/// their numbers, new ones follow. The answer of the run becomes task.earlier. Throws IoError
/// naming the run or a file that is not there any more.
void read_more(const CompleteInput& input, const io::EntriesOptions& how, CompleteTask& task);

}  // namespace udv::jobs

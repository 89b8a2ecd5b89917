// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/io/run_info.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv::io {

/// Writes run.json, U.npy, d.npy, V.npy (rectangular), history.csv, columns.npz (gradient runs) and
/// center.npz (offsets) into the folder, which is made where missing. run.json comes last: where it
/// is, all is. A folder that holds a run or files of others is refused (OptionError) without
/// `force`, which replaces the run. Throws IoError naming the path.
template <typename Scalar>
UDV_EXPORT void write_run(const std::filesystem::path& folder,
                          const BasicRecovery<Scalar>& recovery, const RunInfo& info = {},
                          bool force = false);

/// history.csv as text: iteration, seconds, objective, rank, norm_U, max_d, step.
UDV_EXPORT std::string history_csv(const std::vector<IterationRecord>& history);

}  // namespace udv::io

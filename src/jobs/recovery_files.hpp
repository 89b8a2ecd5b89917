// SPDX-License-Identifier: MIT
#pragma once

#include "udv/jobs/run_folder.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv::jobs {

/// U.npy, d.npy, V.npy (rectangular), history.csv, columns.npz, center.npz (offsets) and, last,
/// run.json.
template <typename Scalar>
void write_recovery(RunFolder& folder, const BasicRecovery<Scalar>& recovery,
                    const io::RunInfo& info);

}  // namespace udv::jobs

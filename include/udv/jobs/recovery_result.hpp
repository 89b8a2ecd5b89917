// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "udv/jobs/session.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv::jobs {

/// What every job returns that recovers a matrix.
template <typename Scalar>
struct RecoveryResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  bool resumable = false;        ///< the folder has a checkpoint
  BasicRecovery<Scalar> recovery;
  std::optional<double> relative_error;  ///< where the truth is known
  std::vector<std::string> warnings;
};

}  // namespace udv::jobs

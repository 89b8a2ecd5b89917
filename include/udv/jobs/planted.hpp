// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv::jobs {

enum class PlantedKind {
  kCompletion,  ///< random entries of a random low-rank matrix
  kPhase,       ///< Gaussian intensities of a random vector or of an image
};

/// Which made-up problem.
struct PlantedInput {
  PlantedKind problem = PlantedKind::kCompletion;
};
UDV_EXPORT void describe(OptionTable& table, PlantedInput& input);

/// The seed of the session is that of the start; `problem_seed` is that of the problem.
struct PlantedJobOptions {
  Index rows = 100, cols = 0;  ///< cols 0: as many as rows
  bool rectangular = false;    ///< X = U V^T instead of U U^T
  Index rank = 3, measurements = 900;
  double condition = 1;  ///< largest weight of a column of X over the smallest
  double perturb = 0;    ///< noise: standard deviation over root mean square measurement
  std::uint64_t problem_seed = 0;
  std::string image;  ///< phase: the unknowns are an image of this IDX file
  Index number = 0;   ///< which one, from 0
  double trace = 0;   ///< phase: b is scaled so that tr X is this; 0: not
  RecoverOptions method;
  bool smoothness_step = false;  ///< phase: the step is 1 / L, the paper's
};
UDV_EXPORT void describe(OptionTable& table, PlantedJobOptions& options);

/// Makes up a problem whose answer is known, recovers it and tells the error.
UDV_EXPORT RecoveryResult<double> planted(const PlantedInput& input,
                                          const PlantedJobOptions& options, Session& session);

}  // namespace udv::jobs

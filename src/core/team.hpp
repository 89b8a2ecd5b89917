// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/communicator.hpp"

namespace udv {

/// Processes that mpirun or srun has started together.
class Team : public Communicator {
 public:
  /// All ranks have come to their end.
  virtual void finish() = 0;
  /// Ends all ranks at once, without their help.
  [[noreturn]] virtual void abort(int exit_code) = 0;
  /// Name and version of the MPI library.
  virtual std::string library() const = 0;
};

/// What a process tells the module libudv_mpi.so when it joins the others.
struct TeamRules {
  double timeout_seconds;  ///< that a rank waits for the others before it ends the job
  int standard_error;      ///< a descriptor: the ranks but the first are silent elsewhere
  int rank;                ///< as the launcher says, for messages before MPI knows it
};

/// Of everything above, which the program and the module share: "udv_team_version" of the module.
inline constexpr int kTeamVersion = 3;
/// What the module offers as "udv_join_team". The team stays until the program ends.
using JoinTeam = Team* (*)(const TeamRules&);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include "core/communicator.hpp"

namespace udv {

/// Processes that mpirun or srun has started together.
class Team : public Communicator {
 public:
  /// All ranks have come to their end.
  virtual void finish() = 0;
  /// Ends all ranks at once, without their help.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// What the module libudv_mpi.so offers as "udv_join_team". `timeout_seconds` is how long a rank
/// waits for the others before it gives up. Stays until the program ends.
using JoinTeam = Team* (*)(double timeout_seconds);

}  // namespace udv

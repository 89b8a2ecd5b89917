// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/team.hpp"

namespace udv::cli {

/// This process as one of several that mpirun or srun has started for one completion. Rank 0 prints
/// and writes; the others are silent unless something goes wrong with them alone. The plain program
/// knows nothing of MPI: the module libudv_mpi.so is loaded where the launcher's variables say that
/// there are others.
class TeamMember {
 public:
  TeamMember() = default;
  TeamMember(const TeamMember&) = delete;
  TeamMember& operator=(const TeamMember&) = delete;

  /// Joins the others, where there are some and the command is one that they share. kDone, or the
  /// exit code where the command is for one process, or the module or other ranks do not go with
  /// this program; it has then said why.
  int join(char** arguments);
  /// The exit code of all ranks. After an error all of them end.
  int leave(int exit_code);

 private:
  void silence();
  std::string last_words() const;

  Team* team_ = nullptr;
  std::unique_ptr<UseCommunicator> use_;
  int standard_error_ = -1, kept_ = -1;  // where the silent ranks write what is wrong
};

}  // namespace udv::cli

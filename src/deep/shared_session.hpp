// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "udv/deep/processes.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// The session of a job that several processes do together. Only the first one has the folder, and
/// shows and writes something; the others just listen to interrupts. Processes of one machine share
/// its cores where nobody says how many threads each has.
class SharedSession {
 public:
  SharedSession(Session& session, std::shared_ptr<deep::Processes> processes);

  Session& session() { return silent_ ? *silent_ : session_; }

 private:
  Session& session_;
  std::optional<Session> silent_;
};

/// True in all processes where one of them is interrupted.
bool interrupted(const Session& session, const std::shared_ptr<deep::Processes>& processes);

/// The hooks of a run; all processes resume from the state that the first one has read.
Hooks shared_hooks(Run& run, const std::shared_ptr<deep::Processes>& processes,
                   const ProgressTotal& total, const ProgressWords& words);

/// Throws where the processes have different settings, or less than one sample of a batch each.
void check_processes(const std::shared_ptr<deep::Processes>& processes, const OptionTable& table,
                     Index batch);

/// Throws IoError where the processes have read something else.
void check_same_input(const std::shared_ptr<deep::Processes>& processes, const std::string& what,
                      std::uint64_t hash);

}  // namespace udv::jobs

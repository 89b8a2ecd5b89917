// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// Shows the progress of work that has no checkpoint of its own, for one scope.
class Progress {
 public:
  Progress(Session& session, const ProgressTotal& total, const ProgressWords& words)
      : listener_(session.listener()) {
    listener_.begin(total, words);
  }
  ~Progress() { listener_.end(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Completes the record by the time so far.
  void show(IterationRecord record) {
    record.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    listener_.progress(record);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Listener& listener_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace udv::jobs

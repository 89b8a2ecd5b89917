// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include "udv/core/observer.hpp"

namespace udv {

/// When a computation hands its state to its hooks: after first_delay() seconds, then at intervals,
/// and at natural points: the end of an epoch, of a fit, of a part. States that take longer than
/// 3 s to make and write are saved less often: saving takes at most a tenth of the time.
class SaveClock {
 public:
  /// Refers to the hooks while it lives.
  explicit SaveClock(const Hooks& hooks) : hooks_(hooks), wait_(first_delay()) {}

  /// After any step.
  bool due() const { return hooks_.save && elapsed() > wait_; }
  bool due_at_point() const { return hooks_.save && elapsed() > std::max(first_delay(), rest_); }

  /// The bytes that to_bytes() returns.
  template <typename ToBytes>
  void save(const ToBytes& to_bytes) {
    const Clock::time_point start = Clock::now();
    hooks_.save(to_bytes());
    last_ = Clock::now();
    const double cost = std::chrono::duration<double>(last_ - start).count();
    rest_ = cost > kNoticed ? kMostWork * cost : 0;
    wait_ = std::max(hooks_.save_every_seconds, rest_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kFirstDelay = 2, kNoticed = 0.1, kMostWork = 10;

  double first_delay() const { return std::min(kFirstDelay, hooks_.save_every_seconds); }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - last_).count(); }

  const Hooks& hooks_;
  double wait_, rest_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace udv

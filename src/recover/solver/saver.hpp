// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/save_clock.hpp"
#include "recover/solver/recorder.hpp"
#include "udv/core/observer.hpp"

namespace udv {

/// Hands states of a computation to its hooks: when the observer stops it, and now and then.
class Saver {
 public:
  /// The bytes of the computation's present state with this state of its recorder.
  using ToBytes = std::function<std::string(const RecorderState&)>;

  /// Refers to hooks and recorder while it lives.
  Saver(const Hooks& hooks, const Recorder& recorder, ToBytes to_bytes);

  /// From here on a resumed computation starts again at this point: the steps after it are not in
  /// the states that are saved.
  void begin_part() { part_ = recorder_.mark(); }
  /// Every step is a point to resume from again; this one is worth a state.
  void end_part();

  /// Called after every step with what the observer said. False to stop.
  bool should_continue(Verdict verdict);
  bool stopped() const { return verdict_ != Verdict::kContinue; }
  Verdict verdict() const { return verdict_; }

 private:
  void save();

  const Hooks& hooks_;
  const Recorder& recorder_;
  ToBytes to_bytes_;
  std::optional<Recorder::Mark> part_;
  Verdict verdict_ = Verdict::kContinue;
  SaveClock clock_;
};

}  // namespace udv

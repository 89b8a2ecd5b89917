// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/save_clock.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// What the observer is told of a training that is a part of something.
enum class PartProgress {
  kHidden,  ///< that time passes
  kShown,   ///< its steps, behind those of the parts before it
};

/// Several trainings, the parts of one job: what those found that have ended, and the states of
/// those that have begun. The job is a deterministic program; run again with the saved state, it
/// takes what is there instead of computing it and arrives where it was. All parts hear the
/// observer: once it wants to stop, each ends after its next step. Parts may run at the same time,
/// on several threads.
template <typename Real>
class TrainingJournal {
 public:
  using Training = std::function<TrainResult<Real>(const TrainHooks<Real>&)>;

  /// The hooks have to outlive it. Throws InvalidArgument where the state that they resume from is
  /// none of such trainings.
  explicit TrainingJournal(const TrainHooks<Real>& hooks);

  /// A part, by a name of its own. Its result has no options where it ended earlier.
  TrainResult<Real> part(const std::string& name, const Training& training,
                         PartProgress progress = PartProgress::kHidden);
  /// The training that all parts were for: with the hooks themselves, but for the state.
  TrainResult<Real> last(const Training& training);

  /// The first part that the observer stopped, as far as it got; nothing where none was.
  const std::optional<TrainResult<Real>>& stopped() const { return stopped_; }

 private:
  using Clock = std::chrono::steady_clock;

  void read(const std::string& bytes);
  std::string bytes() const;
  TrainHooks<Real> hooks_of(const std::string& name, PartProgress progress);
  Verdict look(IterationRecord record, PartProgress progress);

  const TrainHooks<Real>& hooks_;
  SaveClock clock_;
  std::mutex mutex_;
  std::map<std::string, std::string> ended_, begun_;  // results and states, by name
  std::string last_;                                  // state of the last one
  std::optional<TrainResult<Real>> stopped_;
  Verdict verdict_ = Verdict::kContinue;
  Index steps_before_ = 0;  // of shown parts that have ended
  Clock::time_point started_ = Clock::now();
};

/// All that a training found, but for its options.
template <typename Real>
std::string to_bytes(const TrainResult<Real>& result);
/// Throws InvalidArgument where these are no bytes of such a result.
template <typename Real>
TrainResult<Real> train_result_from_bytes(std::string_view bytes);

}  // namespace udv::net

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "core/save_clock.hpp"
#include "recover/plan/prepared_problem.hpp"
#include "recover/solver/recorder.hpp"
#include "udv/recover/recover.hpp"

namespace udv {

/// What a solve shares with its caller: records, checkpoints, the wish to stop. The walks of a
/// solve share one journal, so that an interrupted solve takes their finished fits from it.
template <typename Scalar>
class Progress {
 public:
  using Walk = std::function<RankWalkOutcome<Scalar>(RankWalk<Scalar>&)>;

  Progress(std::uint64_t fingerprint, const RecoverOptions& options,
           const BasicHooks<Scalar>& hooks);

  /// Takes the caller's checkpoint, where there is one. Throws where it belongs to another solve.
  void resume();
  void save();
  /// Saves now and then. False where this verdict, or one before, wants to stop.
  bool should_continue(Verdict verdict);
  /// Asked after each sweep of a search: asks the observer, where 50 ms have passed, and saves with
  /// what `write` says of the search. What follows a stop is for the answer alone, not for states.
  bool go_on_with_search(const WriteState& write);
  /// A search begins, from something with this hash. The state from which it goes on; empty where
  /// it has none.
  std::string begin_search(std::uint64_t start);
  /// What the solve takes from the search that was begun last, and what it does next.
  void end_search(FinishedSearch found) { state_.searches.push_back(std::move(found)); }
  /// Of the next search, where an interrupted solve has finished it.
  const FinishedSearch* finished_search();

  bool stopped() const { return stop_ != Verdict::kContinue; }
  Verdict verdict() const { return stop_; }
  bool over_limit() const { return over_limit_; }  ///< of the iterations

  /// Runs `walk` over measurements b of the problem. An objective f of it is f * unit for the
  /// caller.
  RankWalkOutcome<Scalar> run(const PreparedProblem<Scalar>& problem, const Reals<Scalar>& b,
                              const RankWalkOptions& options, double unit, const Walk& walk);
  /// Fits that the next walk need not compute, unless a checkpoint has brought some.
  void offer(const std::vector<RankFit<Scalar>>& fits);
  size_t fits_used() const { return fits_used_; }
  /// The next walk takes the fits after these from the journal.
  void rewind(size_t fits_used) { fits_used_ = fits_used; }

  Recorder& recorder() { return recorder_; }
  SolveState<Scalar>& state() { return state_; }
  const SolveState<Scalar>& state() const { return state_; }

 private:
  const RecoverOptions& options_;
  const BasicHooks<Scalar>& hooks_;
  Recorder recorder_;
  SolveState<Scalar> state_;
  Verdict stop_ = Verdict::kContinue;
  bool over_limit_ = false;
  bool walking_ = false;
  bool saved_at_stop_ = false;
  size_t fits_used_ = 0;      // of the journal, by the walks so far
  size_t searches_used_ = 0;  // of those that are finished
  SaveClock clock_;
};

}  // namespace udv

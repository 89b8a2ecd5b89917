// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "recover/solver/solve_state.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv {

/// All that a recorder needs to count and record on from where it was.
struct RecorderState {
  double seconds = 0;
  IterationRecord latest;
  Index earlier_iterations = 0;
  Index next_recorded = 1;
  std::vector<IterationRecord> history;
};

/// Turns solver states into records: keeps the history, calls the observer at recorded iterations
/// and every 50 ms, counts iterations and time across a resume.
class Recorder {
 public:
  Recorder(Recording recording, Observer observer);

  /// A gradient run begins, or goes on after other steps, at its iteration `from`: it is counted on
  /// from all that was before.
  void next_run(Index from = 0) { earlier_iterations_ = latest_.iteration - from; }

  /// `unit` turns a scaled objective into the caller's units.
  template <typename Scalar>
  Verdict observe(const BasicGradientState<Scalar>& state, double unit);
  Verdict observe(const FitStep& step, double unit);

  /// Takes note of the last state, whether it was looked at or not.
  template <typename Scalar>
  void finish(const BasicGradientState<Scalar>& state, double unit);

  /// Calls the observer between iterations, where 50 ms have passed.
  Verdict poll();

  double seconds() const;
  Index next_iteration() const { return latest_.iteration + 1; }

  template <typename Scalar>
  void restore(const SolveState<Scalar>& checkpoint);
  template <typename Scalar>
  void store(SolveState<Scalar>& checkpoint) const;
  /// A point that a recorder can be taken back to.
  struct Mark {
    IterationRecord latest;
    Index earlier_iterations = 0;
    Index next_recorded = 1;
    size_t history_size = 0;
  };
  Mark mark() const;
  /// The state that it had at the mark, but with the time spent up to now.
  RecorderState state_at(const Mark& mark) const;
  void restore(RecorderState state);
  /// The last iteration belongs into every history.
  void flush();
  std::vector<IterationRecord> take_history() { return std::move(history_); }
  ColumnHistory take_columns() { return std::move(columns_); }

 private:
  bool wanted(Index iteration) const;
  void keep(const IterationRecord& record);
  template <typename Scalar>
  void keep_columns(const BasicGradientState<Scalar>& state);
  Verdict notify(const IterationRecord& record);

  Recording recording_;
  Observer observer_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  double earlier_seconds_ = 0;
  Index earlier_iterations_ = 0;
  double last_notice_ = -1;
  Index next_recorded_ = 1;
  Index num_columns_ = 0;
  IterationRecord latest_;
  std::vector<IterationRecord> history_;
  ColumnHistory columns_;
};

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/planted_problems.hpp"

/// Computations that are stopped and resumed. A run is a function of its hooks.
namespace udv::testing {

/// What a stopped run leaves behind.
struct StoppedRun {
  std::string state;  ///< empty where it ended before the call
  bool in_dynamics = false;
  StopReason reason = StopReason::kConverged;
};

/// Stops a run at the given call of its observer.
template <typename Run>
StoppedRun stopped_at(int call, const Run& run, Verdict verdict = Verdict::kInterrupt) {
  StoppedRun stopped;
  int calls = 0;
  Hooks hooks;
  hooks.observer = [&](const IterationRecord& record) {
    if (++calls != call) return Verdict::kContinue;
    stopped.in_dynamics = record.column_sizes != nullptr;
    return verdict;
  };
  hooks.save = [&](const std::string& state) { stopped.state = state; };
  stopped.reason = run(hooks).stop_reason;
  EXPECT_LE(calls, call);  // a run that was stopped asks no more
  return stopped;
}

template <typename Run>
auto resumed(const std::string& state, const Run& run) {
  Hooks hooks;
  hooks.resume = state;
  return run(hooks);
}

/// All states that a run saves on its way.
template <typename Run>
std::vector<std::string> states_on_the_way(const Run& run) {
  std::vector<std::string> states;
  Hooks hooks;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& state) { states.push_back(state); };
  run(hooks);
  return states;
}

/// The same answer by the same steps.
template <typename Result>
void expect_same_run(const Result& one, const Result& other) {
  expect_same_bits(one, other);
  EXPECT_TRUE(one.x == other.x);
  EXPECT_EQ(one.relative_residual, other.relative_residual);
  EXPECT_EQ(one.converged, other.converged);
  ASSERT_EQ(one.history.size(), other.history.size());
  for (size_t k = 0; k < one.history.size(); ++k) {
    EXPECT_EQ(one.history[k].iteration, other.history[k].iteration);
    EXPECT_EQ(one.history[k].objective, other.history[k].objective);
    EXPECT_EQ(one.history[k].rank, other.history[k].rank);
    EXPECT_EQ(one.history[k].step, other.history[k].step);
  }
}

}  // namespace udv::testing

// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/observer.hpp"

namespace udv::cli {

/// What the numbers of a record are called.
struct ProgressWords {
  const char* iteration = "iteration";
  const char* objective = "objective";
  const char* rank = "rank";
};

/// A bar on the terminal: share done and time left where the end is known, rate, objective and
/// current rank. Silent where standard error is not a terminal.
class ProgressBar {
 public:
  /// `total` iterations, or 0 where nobody knows; `seconds` is the time limit, or 0.
  ProgressBar(Index total, double seconds, bool quiet, ProgressWords words = {});
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  Observer observer();
  void clear();

 private:
  void draw(const IterationRecord& record);

  Index total_;
  double limit_seconds_;
  bool visible_;
  ProgressWords words_;
  bool drawn_ = false;
  double last_drawn_ = -1;
};

}  // namespace udv::cli

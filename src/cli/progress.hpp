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

/// How far a run can go: so many iterations, or 0 where nobody knows, and a time limit, or 0.
struct ProgressTotal {
  Index iterations = 0;
  double seconds = 0;

  /// 0 where nobody knows.
  double share_done(const IterationRecord& record) const;
};

/// A bar on the terminal: share done and time left where the end is known, rate, objective and
/// current rank. Silent where standard error is not a terminal.
class ProgressBar {
 public:
  ProgressBar(ProgressTotal total, bool quiet, ProgressWords words = {});
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  Observer observer();
  void clear();

 private:
  void draw(const IterationRecord& record);

  ProgressTotal total_;
  bool visible_;
  ProgressWords words_;
  bool drawn_ = false;
  double last_drawn_ = -1;
};

}  // namespace udv::cli

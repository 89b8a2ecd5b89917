// SPDX-License-Identifier: MIT
#pragma once

#include "udv/jobs/session.hpp"

namespace udv::cli {

/// A bar on the terminal: share done and time left where the end is known, rate, objective and
/// current rank. Silent where standard error is not a terminal.
class ProgressBar {
 public:
  ProgressBar(jobs::ProgressTotal total, bool quiet, jobs::ProgressWords words = {});
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const IterationRecord& record);
  void clear();

 private:
  void draw(const IterationRecord& record);

  jobs::ProgressTotal total_;
  bool visible_;
  jobs::ProgressWords words_;
  bool drawn_ = false;
  double last_drawn_ = -1;
};

}  // namespace udv::cli

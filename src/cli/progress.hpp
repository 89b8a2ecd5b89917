// SPDX-License-Identifier: MIT
#pragma once

#include "udv/jobs/session.hpp"

namespace udv::cli {

/// One line of at most `width` columns (20 at least): what does not fit is left out, the end first.
std::string progress_line(const IterationRecord& record, const jobs::ProgressTotal& total,
                          const jobs::ProgressWords& words, int width);

/// Columns that a text takes on a terminal, where each character takes one.
int columns_of(const std::string& text);

/// A bar on the terminal: share done and time left where the end is known, rate, objective and
/// current rank. Fits the terminal, also while that is resized. Silent where standard error is not
/// a terminal.
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
  std::string back_to_start(int width) const;

  jobs::ProgressTotal total_;
  bool visible_;
  jobs::ProgressWords words_;
  int drawn_ = 0;  // columns of the line that is there
  double last_drawn_ = -1;
};

}  // namespace udv::cli

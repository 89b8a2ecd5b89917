// SPDX-License-Identifier: MIT
#pragma once

#include "run_view.hpp"

namespace udv::report {

/// A run as a chart shows it.
struct ChartRun {
  const RunView* view;
  std::string label;
  int color = -1;
};

/// How much of each run a page can hold.
struct Detail {
  std::size_t buckets = 130;   ///< of a history, three points each
  std::size_t frames = 60;     ///< of columns over time; 0: none
  std::size_t spectrum = 400;  ///< singular values at most
  bool pictures = true;
};

/// The column `y` of history.csv (or of live.json while the run goes on) against its first column;
/// log-log where `log`. An empty block list where no run has such a history.
std::vector<Json> history_chart(const std::string& title, const std::vector<ChartRun>& runs,
                                const std::string& y, bool log, const Detail& detail = {});

/// Singular values, largest first; divided by the first where `relative`.
std::vector<Json> spectra_chart(const std::string& title, const std::vector<ChartRun>& runs,
                                bool relative, const Detail& detail = {});

/// The errors of a trained network in the user's units beside the baseline's, predicted against
/// true values or the confusion matrix; nothing for other runs.
std::vector<Json> training_answer(const RunView& run);

/// Losses and accuracy by epoch, live width in a panel below.
std::vector<Json> training_charts(const std::vector<ChartRun>& runs, const Detail& detail = {});

/// Column norms and d over time, from columns.npz.
std::vector<Json> columns_chart(const std::string& title, const RunView& run,
                                const Detail& detail = {});

/// Relative change (or accuracy) against neurons kept, from curve.csv, with the 0.1 % line.
std::vector<Json> pruning_chart(const std::string& title, const std::vector<ChartRun>& runs);

/// Perplexity against the share of parameters left, from pruning.csv of adapters.
std::vector<Json> adapter_pruning_chart(const std::string& title,
                                        const std::vector<ChartRun>& runs);

/// Ranks kept by layer and matrix, from ranks.csv of an adapter.
std::vector<Json> adapter_ranks_map(const std::string& title, const RunView& run);

/// Snapshots, the last picture, and a handle between two of them.
std::vector<Json> picture_blocks(const RunView& run);

/// Of a microscope's image: the picture beside the raw one, then LEDs and pupil.
std::vector<Json> microscope_blocks(const RunView& run);
/// What a run warned of, a paragraph each.
std::vector<Json> warning_blocks(const RunView& run);

/// A sentence with the best cell, the metric against the learning rate, and tables with means and
/// deviations beside the paper's figures, one per optimizer.
std::vector<Json> sweep_tables(const RunView& run);

}  // namespace udv::report

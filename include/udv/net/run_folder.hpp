// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/io/run_info.hpp"
#include "udv/net/model_file.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// What a run has to say in the end, besides its history.
struct TrainFigures {
  Vector<double> spectrum;  ///< of UD
  double stable_rank = 0, effective_rank = 0;
  Index rank_90 = 0, rank_99 = 0, rank_999 = 0;  ///< singular values that carry so much energy
  Index live_width = 0, parameters = 0;
};
template <typename Real>
TrainFigures figures_of(const Network<Real>& network);

/// A finished run and what it was made of.
template <typename Real>
struct TrainRun {
  const TrainResult<Real>& result;
  const Model<Real>& model;
  const TrainOptions& options;
  const TrainFigures& figures;
  Index training_rows = 0, test_rows = 0;
};

/// Writes model.safetensors, history.csv and, last, run.json into the folder. Throws IoError naming
/// the path.
template <typename Real>
void write_run(const std::filesystem::path& folder, const TrainRun<Real>& run,
               const io::RunInfo& info);

/// history.csv as text: epoch, seconds, train_loss, test_loss, test_accuracy, learning_rate,
/// live_width, effective_rank; empty where there is no such number.
std::string history_csv(const std::vector<EpochRecord>& history, Task task);

}  // namespace udv::net

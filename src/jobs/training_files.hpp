// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/trainer.hpp"

namespace udv::jobs {

/// A finished training and what it was made of.
template <typename Real>
struct Training {
  const net::TrainResult<Real>& result;
  const net::Model<Real>& model;
  const net::TrainOptions& options;
  const net::TrainFigures& figures;
  Index training_rows = 0, test_rows = 0;
};

/// model.safetensors, history.csv and, last, run.json in the folder of the run.
template <typename Real>
UDV_EXPORT void write_training(Run& run, const Training<Real>& training);

/// history.csv as text: epoch, seconds, train_loss, test_loss, test_accuracy, learning_rate,
/// live_width, effective_rank; empty where there is no such number.
UDV_EXPORT std::string history_csv(const std::vector<net::EpochRecord>& history, net::Task task);

/// How a training ended, in words of jobs.
UDV_EXPORT Outcome outcome_of(net::TrainStop stop);

}  // namespace udv::jobs

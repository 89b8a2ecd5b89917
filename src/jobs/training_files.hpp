// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "io/json_file.hpp"
#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/metrics.hpp"
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
  Index validation_rows = 0;
  const net::Metrics* metrics = nullptr;  ///< of the test part; nullptr: not measured
  const net::Baseline* baseline = nullptr;
};

/// What was measured on a test part, for run.json: test_rmse, test_mae, test_r2 in the user's units
/// (lists in "targets" where there are several), or test_accuracy, log loss, per-class figures and
/// the confusion matrix; and what needs no network.
UDV_EXPORT io::detail::OrderedJson metrics_json(const net::Metrics& metrics,
                                                const net::Preprocessing& how);
UDV_EXPORT io::detail::OrderedJson baseline_json(const net::Baseline& baseline,
                                                 const net::Preprocessing& how);

/// test_predictions.csv: true and predicted values of a test part, at most the first 20,000 rows.
template <typename Real>
UDV_EXPORT std::string test_predictions_csv(const RowMatrix<Real>& outputs,
                                            const net::Dataset<Real>& test,
                                            const net::Preprocessing& how);

/// model.safetensors, history.csv and, last, run.json in the folder of the run.
template <typename Real>
UDV_EXPORT void write_training(Run& run, const Training<Real>& training);

/// The name of a class, or its number as text where it has none.
UDV_EXPORT std::string class_name(const net::Preprocessing& how, size_t label);

/// history.csv as text: epoch, step, seconds, train_loss, validation_loss, validation_accuracy,
/// test_loss, test_accuracy, learning_rate, live_width, effective_rank; empty where there is no
/// such number.
UDV_EXPORT std::string history_csv(const std::vector<net::EpochRecord>& history, net::Task task);

/// How a training ended, in words of jobs.
UDV_EXPORT Outcome outcome_of(net::TrainStop stop);

}  // namespace udv::jobs

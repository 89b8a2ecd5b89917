// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/metrics.hpp"
#include "udv/net/trainer.hpp"

namespace udv::jobs {

/// What a network is trained on: a file or folder that net::DataSource reads.
struct TrainInput {
  std::string data;
};
UDV_EXPORT void describe(OptionTable& table, TrainInput& input);

/// Settings of `train`; the seed of the session is that of weights and batches.
struct TrainJobOptions {
  net::DataOptions source;
  net::TrainOptions training;
  bool float64 = false;  ///< double precision

  /// The settings of the data that the preset asks for.
  net::DataOptions data_options() const {
    return training.is_paper() ? source.for_paper() : source;
  }
};
UDV_EXPORT void describe(OptionTable& table, TrainJobOptions& options);

/// A trained network and how it got there.
struct TrainJobResult {
  Outcome outcome = Outcome::kDone;
  net::TrainStop stop = net::TrainStop::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  std::variant<std::monostate, net::Model<float>, net::Model<double>> model;
  net::TrainFigures figures;
  std::vector<net::EpochRecord> history;
  net::Task task = net::Task::kRegression;
  net::Sizes sizes;
  net::TrainOptions options;  ///< as used: nothing is left at auto
  std::string task_reason;    ///< why the task is what it is; empty where it was given
  std::string head_reason;    ///< why the variant is what it is; empty where it was given
  std::string target_reason;  ///< why the target is bent or not; empty where nothing was chosen
  Index training_rows = 0, validation_rows = 0, test_rows = 0, averaged_epochs = 0;
  Index steps = 0, best_step = 0;
  Index folds = 0;  ///< of a cross-validation instead of a validation part
  double test_loss = 0, test_accuracy = 0, seconds = 0;
  net::Metrics metrics;    ///< of the test part, in the user's units
  net::Baseline baseline;  ///< of the same rows
  std::vector<std::string> target_names, class_names;
};

/// Trains a low-rank network. Throws IoError naming file and place, OptionError naming a setting.
UDV_EXPORT TrainJobResult train(const TrainInput& input, const TrainJobOptions& options,
                                Session& session);

/// The same with data in memory, prepared by net::DataSource or by the caller.
template <typename Real>
UDV_EXPORT TrainJobResult train(const net::PreparedData<Real>& data, const TrainJobOptions& options,
                                Session& session);

}  // namespace udv::jobs

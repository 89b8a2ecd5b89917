// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "udv/core/export.hpp"
#include "udv/jobs/model_input.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/metrics.hpp"

namespace udv::jobs {

/// `evaluate` has no settings of its own.
struct EvaluateOptions {};
UDV_EXPORT void describe(OptionTable& table, EvaluateOptions& options);

struct EvaluateResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  net::Task task = net::Task::kRegression;
  Index rows = 0;
  double loss = 0;                 ///< mean squared error of scaled targets, or cross entropy
  std::optional<double> accuracy;  ///< share of right labels; classification
  std::optional<double> rmse;      ///< in the units of the target; regression
  net::Metrics metrics;            ///< in the units of the target
  std::vector<std::string> class_names;
};

/// Measures a trained network on data with targets: run.json. Throws IoError naming file and place.
UDV_EXPORT EvaluateResult evaluate(const ModelInput& input, const EvaluateOptions& options,
                                   Session& session);

/// The same with a model and scaled data in memory, as net::read_for_model returns them.
UDV_EXPORT EvaluateResult evaluate(const net::Model<double>& model,
                                   const net::Dataset<double>& data, const EvaluateOptions& options,
                                   Session& session);

}  // namespace udv::jobs

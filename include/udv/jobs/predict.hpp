// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/core/export.hpp"
#include "udv/jobs/model_input.hpp"
#include "udv/net/prediction.hpp"

namespace udv::jobs {

/// `predict` has no settings of its own.
struct PredictOptions {};
UDV_EXPORT void describe(OptionTable& table, PredictOptions& options);

struct PredictResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  std::filesystem::path file;    ///< predictions.csv in it
  net::Predictions predictions;
};

/// Applies a trained network to other data: predictions.csv and run.json. Throws IoError naming
/// file and place.
UDV_EXPORT PredictResult predict(const ModelInput& input, const PredictOptions& options,
                                 Session& session);

/// The same with a model and scaled features (n x inputs) in memory.
UDV_EXPORT PredictResult predict(const net::Model<double>& model, const RowMatrix<double>& X,
                                 const PredictOptions& options, Session& session);

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/jobs/table_options.hpp"
#include "udv/recover/fold_in.hpp"
#include "udv/recover/prediction.hpp"

namespace udv::jobs {

struct FoldInInput {
  std::string run = {};      ///< folder of a completion
  std::string file = {};     ///< entries of new rows: triplets, a table or an array
  std::string predict = {};  ///< pairs row,column to predict
};
UDV_EXPORT void describe(OptionTable& table, FoldInInput& input);

struct FoldInOptions {
  TableInput input = {};
  TableOutput output = {};
};
UDV_EXPORT void describe(OptionTable& table, FoldInOptions& options);

struct FoldInResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the results; empty where nothing was written
  LearnedColumns columns;
  FoldedRows rows;
  io::Keys row_keys, col_keys;          ///< of the new rows and of the columns; empty: numbers
  std::vector<Prediction> predictions;  ///< one for each pair
  Index entries = 0;
  double seconds = 0;  ///< of the solves
  std::vector<std::string> warnings;
};

/// Places new rows beside a completed matrix, without a new solve: U.npy (so that the new rows are
/// U diag(d) V^T + offsets with the run's d and V), rows.csv, predictions.csv, recommendations.csv,
/// the filled table and run.json. Throws IoError naming file and place.
UDV_EXPORT FoldInResult fold_in(const FoldInInput& input, const FoldInOptions& options,
                                Session& session);

}  // namespace udv::jobs

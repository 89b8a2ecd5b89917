// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/jobs/table_options.hpp"
#include "udv/recover/prediction.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/symmetry.hpp"
#include "udv/recover/validation.hpp"

namespace udv::jobs {

/// Files of a matrix completion; only the first one is needed.
struct CompleteInput {
  std::string file;     ///< known entries: .mtx, triplets with any keys, tables and arrays with NaN
  std::string test;     ///< entries that the error is measured on
  std::string predict;  ///< pairs row,column to predict
  /// Folder of an earlier completion: its files and this one are joined, later values replace
  /// earlier ones, and its answer is the start. Its keys keep their numbers, new ones follow.
  std::string from = {};
};
UDV_EXPORT void describe(OptionTable& table, CompleteInput& input);

/// The same in memory.
struct CompleteData {
  Entries entries;
  Entries test;
  std::vector<std::pair<Index, Index>> pairs;  ///< 0-based
  int index_base = 0;                          ///< how messages and files count rows and columns
  io::Keys row_keys = {}, col_keys = {};       ///< what they call them instead, where not empty
  io::TableForm form = {};                     ///< of the file that `fill` writes
};

struct CompleteOptions {
  Symmetry symmetric = Symmetry::kOff;
  io::IndexBase base = io::IndexBase::kAuto;
  std::optional<std::pair<Index, Index>> shape;  ///< of X; empty: from the largest indices
  TableInput input = {};
  TableOutput output = {};
  Index folds = 0;  ///< parts for cross-validation; 0: none
  RecoverOptions method;
};
UDV_EXPORT void describe(OptionTable& table, CompleteOptions& options);

struct CompleteResult : RecoveryResult<double> {
  std::vector<Prediction> predictions;  ///< one for each pair, biases included
  std::optional<HeldOutErrors> test;    ///< on the test entries, where there are some
  std::optional<FoldErrors> folds;      ///< of cross-validation, where it was asked for
};

/// Fills in a matrix from some of its entries. Throws IoError naming file and place, OptionError
/// naming a setting.
UDV_EXPORT CompleteResult complete(const CompleteInput& input, const CompleteOptions& options,
                                   Session& session);
UDV_EXPORT CompleteResult complete(const CompleteData& data, const CompleteOptions& options,
                                   Session& session);

}  // namespace udv::jobs

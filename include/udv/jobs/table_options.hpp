// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::jobs {

/// How the user's text files are laid out.
struct TableInput {
  io::Layout layout = io::Layout::kAuto;
  /// Columns by header or number from 1; empty: guessed.
  std::string row = {}, column = {}, value = {}, weight = {}, std = {};
};
UDV_EXPORT void describe(OptionTable& table, TableInput& options);

/// What the reader of entries is told of it.
UDV_EXPORT io::EntriesOptions reader_options(const TableInput& input);

/// What makes a column one of the best for a row.
enum class RankBy {
  kMean,   ///< the prediction
  kLower,  ///< the lower end of its 90 % interval: what is uncertain comes later
};

/// What is written besides the factors.
struct TableOutput {
  std::string fill = {};   ///< file for the completed table: .csv, .tsv or .npy
  bool keep_known = true;  ///< known entries as they are, not as the model has them
  bool yes = false;        ///< even where it is larger than 2 GB
  Index recommend = 0;     ///< so many of the best unknown columns for each row
  RankBy rank_by = RankBy::kMean;
  std::string rows = {};  ///< file with the rows that they are for; empty: all
};
UDV_EXPORT void describe(OptionTable& table, TableOutput& options);

}  // namespace udv::jobs

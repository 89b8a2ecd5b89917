// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/line_names.hpp"
#include "udv/core/entries.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/jobs/table_options.hpp"
#include "udv/recover/prediction.hpp"

namespace udv::jobs {

/// A completed matrix, one row at a time: it is never there as a whole.
struct CompletedRows {
  Index rows = 0, cols = 0;
  /// Predictions for row i; NaN where the row or the column has no data.
  std::function<void(Index i, Vector<double>& values)> row;
  std::function<bool(Index i, Index j)> determined;
  std::function<double(Index i, Index j)> deviation;  ///< of an observation
};

/// Of an answer. Both arguments are kept by reference.
CompletedRows completed_rows(const Recovery& recovery, const DeterminedEntries& known);

/// No value is outside the range, where there is one.
void keep_in_range(const std::optional<std::pair<double, double>>& range, Vector<double>& values);

/// row,column,value,determined,std; no value where the row or column has no data.
std::string predictions_csv(const std::vector<Prediction>& predictions, const LineNames& names);

/// Known entries by row, both halves of a symmetric matrix.
class KnownRows {
 public:
  explicit KnownRows(const Entries& entries);

  /// Calls use(j, value) for the known entries of row i.
  template <typename Use>
  void for_each(Index i, const Use& use) const {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t t = start_[row]; t < start_[row + 1]; ++t) use(Index{col_[t]}, value_[t]);
  }

 private:
  std::vector<std::size_t> start_;
  std::vector<std::int32_t> col_;
  std::vector<double> value_;
};

/// Throws OptionError where the name has none of the endings, IoError where its folder is not there
/// or the table would be larger than 2 GB and `yes` is not set.
void check_output(const TableOutput& output, Index rows, Index cols);

/// Throws IoError where the completed table would replace the input.
void check_other_file(const std::string& fill, const std::string& input);

/// Writes the completed table in the form of the input.
void write_fill(const TableOutput& output, const CompletedRows& matrix, const KnownRows& known,
                const io::TableForm& form, const LineNames& names);

/// row,rank,column,value,determined,std: for each of `rows` (all where there is none) the
/// output.recommend best columns that are not known. O(columns) memory.
void write_recommendations(const std::filesystem::path& path, const TableOutput& output,
                           const std::vector<Index>& rows, const CompletedRows& matrix,
                           const KnownRows& known, const LineNames& names);

}  // namespace udv::jobs

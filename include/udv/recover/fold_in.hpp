// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What a completed matrix says of its columns, and of rows in general. Row i of the matrix is
/// offset_j + <t_i, a_j>, where a_j = (V_j, 1) and t_i = (U_i d, bias of the row); without biases
/// of rows the last coordinate is missing. Rows are taken as draws with this mean and covariance.
struct UDV_EXPORT LearnedColumns {
  RowMatrix<double> features;    ///< a_j, columns x k
  Vector<double> offsets;        ///< of the columns
  Vector<double> mean;           ///< of t, k
  RowMatrix<double> covariance;  ///< of t, k x k
  double noise_sigma = 0;        ///< of an entry with weight 1
  bool has_row_biases = false;
  std::optional<std::pair<double, double>> range;  ///< in which predictions are kept
  std::vector<char> empty;                         ///< 1: the column has no data

  Index cols() const { return features.rows(); }
};

/// From an answer; `rows`, `cols` and biases as in the recovery.
UDV_EXPORT LearnedColumns learned_columns(const Recovery& recovery);

/// New rows beside a matrix that stays as it is.
struct UDV_EXPORT FoldedRows {
  RowMatrix<double> t;                  ///< coordinates, new rows x k
  std::vector<RowMatrix<double>> open;  ///< k x m: directions that the entries leave open
  std::vector<std::int32_t> open_of;    ///< for each row its number in `open`, or -1

  /// Row by row the k x k matrix S with S S^T = the posterior covariance of t; empty where it was
  /// not asked for.
  RowMatrix<float> spread;

  /// offset_j + <t_i, a_j>, kept in the range.
  double predict(const LearnedColumns& columns, Index i, Index j) const;
  /// The entries of row i determine its value in column j.
  bool determined(const LearnedColumns& columns, Index i, Index j) const;
  /// Standard deviation of an observation: sqrt(sigma^2 + |S_i^T a_j|^2); infinite where the value
  /// is not determined. Columns are taken as known.
  double deviation(const LearnedColumns& columns, Index i, Index j) const;
};

/// Coordinates of new rows from their entries: the minimum of
///   sum_j w_j (x_j - offset_j - <t, a_j>)^2 + sigma^2 (t - mean)^T C^-1 (t - mean),
/// a k x k solve for each row. A row without entries is the mean row.
UDV_EXPORT FoldedRows fold_in(const LearnedColumns& columns, const Entries& rows,
                              bool with_spread = false);

}  // namespace udv

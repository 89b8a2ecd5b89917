// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "udv/core/export.hpp"
#include "udv/recover/centering.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

inline bool has_rows(Centering mode) {
  return mode == Centering::kRows || mode == Centering::kBoth;
}
inline bool has_cols(Centering mode) {
  return mode == Centering::kCols || mode == Centering::kBoth;
}

/// Parameters of the biases of a p x q matrix: 0, 1, p, q or p + q - 1.
UDV_EXPORT double bias_parameters(Centering mode, Index p, Index q);

/// A(biases).
UDV_EXPORT Vector<double> measured(const MeasurementOperator<double>& op, const Biases& biases);

class DeviceBiases;

/// Biases of entries, fitted to values that may change between sweeps: row by row and column by
/// column, each bias the mean of what the others leave. `op` samples entries of a real
/// rectangular matrix.
class UDV_EXPORT BiasFit {
 public:
  BiasFit(const MeasurementOperator<double>& op, Centering mode);

  /// One sweep on the values `b`. Returns the largest change.
  double sweep(const Vector<double>& b);
  /// Sweeps until nothing moves by more than `tolerance` of the largest value.
  void converge(const Vector<double>& b, int max_sweeps, double tolerance);
  /// |b - A(biases)|, for the values of the last converge().
  double left(const Vector<double>& b) const;

  Biases biases;

 private:
  static double update(Vector<double>& bias, const Vector<double>& counts,
                       const Vector<double>& sums);

  /// What is left of b: its mean, and its sums by row and by column.
  double mean_left(const Vector<double>& b) const;
  Vector<double> rows_left(const Vector<double>& b) const;
  Vector<double> cols_left(const Vector<double>& b) const;

  const MeasurementOperator<double>& op_;
  std::shared_ptr<const DeviceBiases> device_;  // where the entries are: made by converge()
  Centering mode_;
  Vector<double> ones_, row_counts_, col_counts_;
};

}  // namespace udv

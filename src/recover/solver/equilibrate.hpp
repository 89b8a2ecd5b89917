// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Units of rows and columns: X_ij is measured in rows[i] cols[j]; cols is rows where symmetric.
struct LineScales {
  Vector<double> rows, cols;

  /// Some lines differ so much from the typical one that thresholds relative to all data would
  /// overlook the small ones. Gaussian factors of any rank, 1 included, do not.
  bool matter() const;
  /// Relative to the median, and only what exceeds this factor in either direction: 1 for usual
  /// lines.
  LineScales beyond(double factor) const;
};

/// Scales for which x_ij / (r_i c_j) has root mean square 1 in every row and column, by ten rounds
/// of r_i *= rms_j, c_j *= rms_i (symmetric: 30 of r_i *= sqrt(rms_j)); fewer where they do not
/// matter. `op` samples entries of a real matrix, b are their values. Lines without a value other
/// than zero get the median.
UDV_EXPORT LineScales line_scales(const MeasurementOperator<double>& op, const Vector<double>& b);

/// The values in these units, b_ij / (r_i c_j).
UDV_EXPORT Vector<double> divided(const MeasurementOperator<double>& op, const Vector<double>& b,
                                  const LineScales& scales);

/// Factors of X from those of X_ij / (r_i c_j).
UDV_EXPORT StackedFactors<double> multiplied(StackedFactors<double> Z, const LineScales& scales);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include "recover/solver/bayes_side.hpp"

namespace udv {

/// Changes of (b, u), (c, v) and mu that leave every mu + b_i + c_j + u_i . v_j as it is, each the
/// one that raises the evidence bound most. The bound depends on them through second moments alone:
/// at the best prior variances it is 1/2 sum log det C - lines / 2 sum log(moment_kk / lines).
/// All of them are maps (1, w) -> H (1, w), collected here; moments are changed in place.
class UDV_EXPORT BayesGauge {
 public:
  BayesGauge(BayesSums& rows, BayesSums& cols, double& mean);

  /// v <- v - d, b <- b + u . d.
  void shift_to_rows(const Vector<double>& row_prior, const Vector<double>& col_prior);
  /// u <- u - e, c <- c + v . e.
  void shift_to_cols(const Vector<double>& row_prior, const Vector<double>& col_prior);
  /// The mean of b, or of c, becomes part of mu.
  void center_rows() { center(rows_, H_rows_); }
  void center_cols() { center(cols_, H_cols_); }
  /// u <- R^T u, v <- R^-1 v: both second moments become diagonal.
  void rotate();

  /// w <- map w + shift for the lines of each side.
  Matrix<double> rows_map() const { return H_rows_.bottomRightCorner(D_, D_); }
  Vector<double> rows_shift() const { return H_rows_.col(0).tail(D_); }
  Matrix<double> cols_map() const { return H_cols_.bottomRightCorner(D_, D_); }
  Vector<double> cols_shift() const { return H_cols_.col(0).tail(D_); }

 private:
  void center(BayesSums& side, Matrix<double>& H);
  void apply(const Matrix<double>& step, BayesSums& side, Matrix<double>& H);
  void shift(const Vector<double>& bias_prior, const Vector<double>& other_prior,
             BayesSums& bias_side, Matrix<double>& H_bias, BayesSums& other, Matrix<double>& H);

  BayesSums &rows_, &cols_;
  double& mean_;
  Index D_;
  Matrix<double> H_rows_, H_cols_;
};

}  // namespace udv

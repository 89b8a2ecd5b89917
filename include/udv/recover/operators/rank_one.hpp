// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/intensity.hpp"

namespace udv {

/// Intensities of a map W given as an n x p array: A(X)_i = w_i X w_i^* with its rows w_i.
/// A(U diag(d) U^*) costs n p k.
template <typename Scalar>
class UDV_EXPORT RankOneOperator final : public IntensityOperator<Scalar> {
 public:
  explicit RankOneOperator(RowMatrix<Scalar> vectors);
  /// Any dense matrix of Eigen.
  template <typename Vectors>
  explicit RankOneOperator(const Eigen::MatrixBase<Vectors>& vectors)
      : RankOneOperator(RowMatrix<Scalar>(vectors)) {}

  std::string_view name() const override { return "rank_one"; }
  void project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const override;
  void back_project(const RowMatrix<Scalar>& fields, Rows<Scalar> out) const override;
  double trace_estimate(const Reals<Scalar>& b) const override;
  Reals<Scalar> diagonal(const Reals<Scalar>& w) const override;
  Reals<Scalar> squared_rows(const Reals<Scalar>& c) const override;
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

 private:
  RowMatrix<Scalar> vectors_;
  Reals<Scalar> squares_;  // |w_i|^2
  double mean_gain_, norm_bound_;
};

template <typename Vectors>
RankOneOperator(const Eigen::MatrixBase<Vectors>&) -> RankOneOperator<typename Vectors::Scalar>;

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A(X)_i = w_i X w_i^* for symmetric X; w_i are the rows of one n x p array W, so that X = x x^*
/// gives the intensities |W x|^2. A(U diag(d) V^*) = Re sum_c d_c (W U)_ic conj (W V)_ic costs
/// 2 n p k; A*(z) V = W^* (z o W V).
template <typename Scalar>
class RankOneOperator final : public MeasurementOperator<Scalar> {
 public:
  explicit RankOneOperator(RowMatrix<Scalar> vectors);

  std::string_view name() const override { return "rank_one"; }
  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override {
    adjoint_times(z, U, out);
  }
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }
  std::unique_ptr<Linearization<Scalar>> linearize(const Stack<Scalar>& Z) const override;
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

  /// W U, n x k.
  RowMatrix<Scalar> project(const ConstRows<Scalar>& U) const;
  /// out = W^* (z o P) for P of shape n x k.
  void back_project(const Reals<Scalar>& z, const RowMatrix<Scalar>& P, Rows<Scalar> out) const;

 private:
  RowMatrix<Scalar> vectors_;
  double mean_gain_, norm_bound_;
};

}  // namespace udv

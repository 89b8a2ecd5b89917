// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A(X)_i = a_i^T X a_i for symmetric X; a_i are the rows of one n x p array.
/// A(U diag(d) V^T) = sum_c d_c (A U)_ic (A V)_ic costs 2 n p k; A*(z) V = A^T (z o A V).
template <typename Scalar>
class RankOneOperator final : public MeasurementOperator<Scalar> {
 public:
  explicit RankOneOperator(RowMatrix<Scalar> vectors);

  std::string_view name() const override { return "rank_one"; }
  void apply(const ConstRows<Scalar>& U, const Vector<Scalar>& d, const ConstRows<Scalar>& V,
             Vector<Scalar>& y) const override;
  void adjoint_times(const Vector<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Vector<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override {
    adjoint_times(z, U, out);
  }
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }
  std::unique_ptr<Linearization<Scalar>> linearize(const Stack<Scalar>& Z) const override;
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

  /// A U, n x k.
  RowMatrix<Scalar> project(const ConstRows<Scalar>& U) const;
  /// out = A^T (w o W) for W of shape n x k.
  void back_project(const Vector<Scalar>& w, const RowMatrix<Scalar>& W, Rows<Scalar> out) const;

 private:
  RowMatrix<Scalar> vectors_;
  double mean_gain_, norm_bound_;
};

}  // namespace udv

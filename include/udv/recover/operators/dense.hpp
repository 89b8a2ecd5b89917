// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A(X)_i = <A_i, X> = tr A_i^* X with general matrices A_i, given as the rows of one n x (p q)
/// array, each A_i row by row. One A_i is as large as X, so here X may be formed: A(X) costs n p q.
/// Where symmetric, A_i is replaced by (A_i + A_i^*) / 2, which measures the (real part of the)
/// same. Complex and not symmetric: two numbers per measurement.
template <typename Scalar>
class UDV_EXPORT DenseOperator final : public MeasurementOperator<Scalar> {
 public:
  DenseOperator(RowMatrix<Scalar> measurements, Index rows, Index cols, bool symmetric);
  /// Any dense matrix of Eigen.
  template <typename Measurements>
  DenseOperator(const Eigen::MatrixBase<Measurements>& measurements, Index rows, Index cols,
                bool symmetric)
      : DenseOperator(RowMatrix<Scalar>(measurements), rows, cols, symmetric) {}
  /// The values of someone else, without a copy: n x (p q), row by row, kept alive by `owner`. Not
  /// for symmetric X, whose A_i are changed.
  DenseOperator(const Scalar* values, Index measurements, std::shared_ptr<const void> owner,
                Index rows, Index cols);
  DenseOperator(const DenseOperator&) = delete;
  DenseOperator& operator=(const DenseOperator&) = delete;

  std::string_view name() const override { return "dense"; }
  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override;
  void adjoint_products(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                        const ConstRows<Scalar>& V, Rows<Scalar> for_u,
                        Rows<Scalar> for_v) const override;
  double mean_gain() const override { return mean_gain_; }
  Index parts() const override { return this->symmetric() ? 1 : kParts<Scalar>; }
  double norm_bound() const override;
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

 private:
  RowMatrix<Scalar> adjoint(const Reals<Scalar>& z) const;  // A*(z), p x q

  void check_and_weigh();

  RowMatrix<Scalar> own_;
  std::shared_ptr<const void> owner_;  // of the values, where they are not our own
  Eigen::Map<const RowMatrix<Scalar>> measurements_;
  double mean_gain_ = 0;
};

template <typename Measurements>
DenseOperator(const Eigen::MatrixBase<Measurements>&, Index, Index, bool)
    -> DenseOperator<typename Measurements::Scalar>;

}  // namespace udv

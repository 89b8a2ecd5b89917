// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "udv/recover/operators/intensity.hpp"

namespace udv {

/// Intensities of an x that is zero but for the named entries, which are the unknowns.
/// Refers to the operator it was made from while it lives.
template <typename Scalar>
class RestrictedOperator final : public IntensityOperator<Scalar> {
 public:
  /// `entries` are in order, none twice.
  RestrictedOperator(const IntensityOperator<Scalar>& op, std::vector<Index> entries);

  std::string_view name() const override { return op_.name(); }
  void project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const override;
  void back_project(const RowMatrix<Scalar>& fields, Rows<Scalar> out) const override;
  double trace_estimate(const Reals<Scalar>& b) const override;
  Reals<Scalar> diagonal(const Reals<Scalar>& w) const override;
  Reals<Scalar> squared_rows(const Reals<Scalar>& c) const override;
  bool has_diagonal_gram() const override { return op_.has_diagonal_gram(); }
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }

  /// Rows of the whole unknown, zero where there are no entries; and back.
  RowMatrix<Scalar> spread(const ConstRows<Scalar>& U) const;
  Vector<Scalar> gather(const Vector<Scalar>& x) const;

 private:
  const IntensityOperator<Scalar>& op_;
  std::vector<Index> entries_;
  double mean_gain_ = 0, norm_bound_ = 0;
};

/// The measurements w_i X w_i^* of a complex W for real symmetric X. Refers to the operator it was
/// made from while it lives.
template <typename Scalar>
class RealUnknowns final : public MeasurementOperator<RealOf<Scalar>> {
 public:
  using Real = RealOf<Scalar>;
  explicit RealUnknowns(const IntensityOperator<Scalar>& op)
      : MeasurementOperator<Real>(op.rows(), op.rows(), op.num_measurements(), true), op_(op) {}

  std::string_view name() const override { return op_.name(); }
  void apply(const ConstRows<Real>& U, const Vector<Real>& d, const ConstRows<Real>& V,
             Vector<Real>& y) const override;
  void adjoint_times(const Vector<Real>& z, const ConstRows<Real>& V,
                     Rows<Real> out) const override;
  void adjoint_transpose_times(const Vector<Real>& z, const ConstRows<Real>& U,
                               Rows<Real> out) const override {
    adjoint_times(z, U, out);
  }
  double mean_gain() const override { return op_.mean_gain(); }
  double norm_bound() const override { return op_.norm_bound(); }

 private:
  const IntensityOperator<Scalar>& op_;
};

}  // namespace udv

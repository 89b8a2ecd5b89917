// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// The functions a caller gives for a map of its own. `apply` may assume nothing about U, d, V but
/// their sizes; `adjoint_times` and `adjoint_transpose_times` fill `out`, which has its size.
template <typename Scalar>
struct UserFunctions {
  Index rows = 0;
  Index cols = 0;
  Index num_measurements = 0;
  bool symmetric = false;  ///< only symmetric X are measured; A*(z) need not be symmetric itself
  std::function<void(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
                     Reals<Scalar>& y)>
      apply;
  std::function<void(const Reals<Scalar>& z, const ConstRows<Scalar>& V, Rows<Scalar> out)>
      adjoint_times;
  std::function<void(const Reals<Scalar>& z, const ConstRows<Scalar>& U, Rows<Scalar> out)>
      adjoint_transpose_times;
};

/// A map given by functions. Its gain and norm are estimated from a few seeded random rank-one
/// matrices. Where symmetric, the symmetric part is taken of whatever comes back.
template <typename Scalar>
class UDV_EXPORT UserOperator final : public MeasurementOperator<Scalar> {
 public:
  /// Throws InvalidArgument on a missing function, on empty sizes, and where the functions
  /// contradict each other: the adjoint identity is checked once on random factors.
  explicit UserOperator(UserFunctions<Scalar> functions);

  std::string_view name() const override { return "user"; }
  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override;
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }

 private:
  void check_adjoint() const;
  void estimate_gain();

  UserFunctions<Scalar> functions_;
  double mean_gain_ = 1;
  double norm_bound_ = 1;
};

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/spectrum.hpp"
#include "udv/recover/factors/stacked_factors.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

namespace device {
template <typename T>
class DeviceMatrix;
}  // namespace device

/// A way to write X as a product. The methods differ in nothing but these two switches.
struct Method {
  std::string_view name;
  std::string_view formula;
  bool symmetric;  ///< V is U
  bool diagonal;   ///< a factor diag(d), d >= 0, with U and V in Frobenius balls
};

/// bm, udu, uv, udv.
UDV_EXPORT const std::array<Method, 4>& methods();
/// The method of that name. Throws InvalidArgument listing the names.
UDV_EXPORT const Method& method_named(std::string_view name);

/// Gradient of f in (U, V) stacked and in d.
template <typename Scalar>
struct FactorGradient {
  RowMatrix<Scalar> Z;
  Reals<Scalar> d;
  std::shared_ptr<device::DeviceMatrix<RealOf<Scalar>>> away =
      nullptr;  ///< instead of Z, on the device
};

/// X = U diag(d) V^* with its constraint set. Without a diagonal factor d stays 1 and nothing is
/// constrained; with one, |U|_F <= alpha, |V|_F <= alpha and d >= 0.
template <typename Scalar>
class UDV_EXPORT Factorization {
 public:
  Factorization() = default;
  /// Gaussian U and V, each scaled to Frobenius norm `init_norm`; d = 1.
  Factorization(const Method& method, Index rows, Index cols, Index columns, double init_norm,
                std::uint64_t seed);
  Factorization(const Method& method, StackedFactors<Scalar> Z, Reals<Scalar> d);

  const Method& method() const { return *method_; }
  /// Brought to the host where steps were taken on a device.
  const StackedFactors<Scalar>& stack() const;
  const Reals<Scalar>& d() const { return d_; }
  Index columns() const { return d_.size(); }

  /// y = A(X)
  void measure(const MeasurementOperator<Scalar>& op, Reals<Scalar>& y) const;
  /// |A(X) - scale b|^2
  double squared_residual(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                          double scale = 1) const;
  /// residual z = A(X) - b and the gradient of 1/2 |z|^2. With G = A*(z) V above A*(z)^* U it is
  /// G diag(d) and Re diag(U^* A*(z) V); where symmetric 2 A*(z) U diag(d) and Re diag(U^* A*(z)
  /// U).
  void differentiate(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                     Reals<Scalar>& residual, FactorGradient<Scalar>& gradient) const;
  /// The same on the device; returns |z|^2. From here on the factors are there until somebody asks
  /// for stack().
  double differentiate(const device::GradientModel<RealOf<Scalar>>& model,
                       FactorGradient<Scalar>& gradient) const;
  /// The stack on the device, after such a call.
  const device::DeviceMatrix<RealOf<Scalar>>& lines() const { return *away_; }
  /// (U, V, d) -= step * gradient, all at once.
  void take_step(const FactorGradient<Scalar>& gradient, double step);
  /// Projects onto the constraint set. True where a ball was active.
  bool project(double alpha);

  double norm_u() const;
  /// |u_c|, and |u_c| |v_c|.
  Reals<Scalar> norms_of_u() const;
  Reals<Scalar> lengths() const;
  /// d_c |u_c| |v_c|: the size of each column's part of X.
  Vector<double> magnitudes() const;
  /// Columns whose part of X is zero and stays zero: u_c = 0 and v_c = 0, or one of them and d_c.
  std::vector<Index> inert_columns() const;
  void remove(const std::vector<Index>& columns);

  /// SVD of X, or its eigendecomposition where symmetric.
  FactoredSvd<Scalar> svd() const;
  /// Singular values of X, largest first; where the factors are, the host or a device.
  Vector<double> singular_values() const;
  /// sqrt(d) absorbed into U and V: X = U V^*.
  StackedFactors<Scalar> absorbed() const;

  /// Reads or writes every member, for checkpoints.
  template <typename Archive>
  friend void fields(Archive& archive, Factorization& factors) {
    factors.stack();
    factors.away_ = nullptr;
    std::string name(factors.method_ ? factors.method_->name : "");
    archive(name, factors.Z_.Z, factors.Z_.rows, factors.Z_.symmetric, factors.d_);
    factors.method_ = name.empty() ? nullptr : &method_named(name);
  }

 private:
  bool project_lines(Index first, Index count, double alpha);
  Reals<Scalar> norms_of_lines(Index first, Index count) const;

  const Method* method_ = nullptr;
  mutable StackedFactors<Scalar> Z_;
  Reals<Scalar> d_;
  mutable std::shared_ptr<device::DeviceMatrix<RealOf<Scalar>>> away_;  // Z_ on the device ...
  mutable bool moved_ = false;                                          // ... and it is newer there
};

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

struct FitOptions {
  double ridge = 0;          ///< mu in f(Z) = 1/2 |r(Z)|^2 + mu / 2 |Z|_F^2
  int max_outer = 60;        ///< accepted steps
  double small_gain = 0.01;  ///< a step that lowers f by less than this share ...
  int patience = 2;          ///< ... so many times in a row ends the fit
  /// Relative residual |r| / |data| that ends the fit, at least 8 eps.
  double residual_target = 1e-13;
  double gradient_target = 0;  ///< |gradient|_F that ends the fit
  int max_cg = 200;            ///< conjugate gradient steps per linear system
  double min_cg_tolerance = 1e-6;
};

/// A point of the fit, reported after each accepted step.
struct FitStep {
  double objective = 0;  ///< 1/2 |r(Z)|^2
  double damping = 0;
  Index rank = 0;
  double norm_u = 0;  ///< |U|_F, or |Z|_F where Z has no parts
};

/// Returns false to end the fit at once.
using FitMonitor = std::function<bool(const FitStep&)>;

struct FitSummary {
  double objective = 0;  ///< 1/2 |r(Z)|^2 at the end
  double gradient_norm = 0;
  int outer = 0;
  int inner = 0;         ///< conjugate gradient steps in all
  bool stopped = false;  ///< by the monitor
};

/// A sum of squares 1/2 |r(Z)|^2 over real or complex unknowns Z.
template <typename Scalar>
class UDV_EXPORT ResidualModel {
 public:
  using ThinMatrix = RowMatrix<Scalar>;
  using Residual = Reals<Scalar>;

  virtual ~ResidualModel() = default;
  virtual void residual(const RowMatrix<Scalar>& Z, Reals<Scalar>& r) const = 0;
  /// G = J^T r at Z, for the r of that Z.
  virtual void gradient(const RowMatrix<Scalar>& Z, const Reals<Scalar>& r,
                        RowMatrix<Scalar>& G) const = 0;
  /// J^T J at Z; may refer to Z, which does not change while the result lives.
  virtual std::unique_ptr<Linearization<Scalar>> linearize(const RowMatrix<Scalar>& Z) const = 0;
  /// Norm of the data: the unit of relative residuals.
  virtual double data_norm() const = 0;
};

/// Minimises f(Z) = 1/2 |r(Z)|^2 + mu / 2 |Z|_F^2 by Levenberg-Marquardt:
/// (J^T J + (lambda + mu) I) delta = -grad f by preconditioned conjugate gradients.
/// Damping after Nielsen: an accepted step with gain ratio rho multiplies it by
/// max(1/5, 1 - (2 rho - 1)^3), a rejected one by 2, 4, 8, ...
template <typename Scalar>
UDV_EXPORT FitSummary minimise(const ResidualModel<Scalar>& model, RowMatrix<Scalar>& Z,
                               const FitOptions& options, const FitMonitor& monitor = nullptr);

/// The same for r(Z) = A(U V^*) - b. No gauge is fixed: conjugate gradients stay in the range.
template <typename Scalar>
UDV_EXPORT FitSummary fit_factors(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                  StackedFactors<Scalar>& Z, const FitOptions& options,
                                  const FitMonitor& monitor = nullptr);

}  // namespace udv

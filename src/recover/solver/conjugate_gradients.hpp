// SPDX-License-Identifier: MIT
#pragma once

#include "core/sums.hpp"
#include "recover/solver/arrays.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A linear system of a Gauss-Newton model while it is solved; `delta` is the solution so far.
/// ThinMatrix is the type of thin arrays: of the host, or of a device.
template <typename ThinMatrix>
struct BasicLinearSolve {
  ThinMatrix delta, residual, direction, product, preconditioned;
  int steps = 0;
  bool converged = false;
};
template <typename Scalar>
using LinearSolve = BasicLinearSolve<RowMatrix<Scalar>>;

/// (J^T J + shift I) delta = -g to a relative residual `tolerance`; on return `residual` holds
/// -g - (J^T J + shift I) delta. `enough(delta)`, asked after each step, ends it earlier.
template <typename Model, typename ThinMatrix, typename Enough>
void conjugate_gradients(Model& model, const ThinMatrix& g, double shift, double tolerance,
                         int max_steps, BasicLinearSolve<ThinMatrix>& work, const Enough& enough) {
  set_zero_like(g, work.delta);
  set_negative(g, work.residual);
  work.converged = false;
  model.precondition(work.residual, work.preconditioned);
  work.direction = work.preconditioned;
  double rho = dot(work.residual, work.preconditioned);
  const double target = tolerance * tolerance * squared_norm(g);
  for (work.steps = 0; work.steps < max_steps && rho > 0; ++work.steps) {
    model.normal_product(work.direction, work.product);
    add_multiple(shift, work.direction, work.product);
    const double curvature = dot(work.direction, work.product);
    if (!(curvature > 0)) break;
    const double length = rho / curvature;
    add_multiple(length, work.direction, work.delta);
    add_multiple(-length, work.product, work.residual);
    work.converged = squared_norm(work.residual) <= target;
    if (work.converged || enough(work)) {
      ++work.steps;
      break;
    }
    model.precondition(work.residual, work.preconditioned);
    const double next = dot(work.residual, work.preconditioned);
    set_sum(work.preconditioned, next / rho, work.direction, work.direction);
    rho = next;
  }
}

template <typename Model, typename ThinMatrix>
void conjugate_gradients(Model& model, const ThinMatrix& g, double shift, double tolerance,
                         int max_steps, BasicLinearSolve<ThinMatrix>& work) {
  conjugate_gradients(model, g, shift, tolerance, max_steps, work,
                      [](const BasicLinearSolve<ThinMatrix>&) { return false; });
}

}  // namespace udv

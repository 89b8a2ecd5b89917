// SPDX-License-Identifier: MIT
#pragma once

#include "core/sums.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A linear system of a Gauss-Newton model while it is solved; `delta` is the solution so far.
template <typename Scalar>
struct LinearSolve {
  RowMatrix<Scalar> delta, residual, direction, product, preconditioned;
  int steps = 0;
  bool converged = false;
};

/// (J^T J + shift I) delta = -g to a relative residual `tolerance`; on return `residual` holds
/// -g - (J^T J + shift I) delta. `enough(delta)`, asked after each step, ends it earlier.
template <typename Scalar, typename Enough>
void conjugate_gradients(Linearization<Scalar>& model, const RowMatrix<Scalar>& g, double shift,
                         double tolerance, int max_steps, LinearSolve<Scalar>& work,
                         const Enough& enough) {
  work.delta.setZero(g.rows(), g.cols());
  work.residual = -g;
  work.converged = false;
  model.precondition(work.residual, work.preconditioned);
  work.direction = work.preconditioned;
  double rho = dot(work.residual, work.preconditioned);
  const double target = tolerance * tolerance * squared_norm(g);
  for (work.steps = 0; work.steps < max_steps && rho > 0; ++work.steps) {
    model.normal_product(work.direction, work.product);
    work.product += static_cast<RealOf<Scalar>>(shift) * work.direction;
    const double curvature = dot(work.direction, work.product);
    if (!(curvature > 0)) break;
    const auto length = static_cast<RealOf<Scalar>>(rho / curvature);
    work.delta += length * work.direction;
    work.residual -= length * work.product;
    work.converged = squared_norm(work.residual) <= target;
    if (work.converged || enough(work)) {
      ++work.steps;
      break;
    }
    model.precondition(work.residual, work.preconditioned);
    const double next = dot(work.residual, work.preconditioned);
    work.direction = work.preconditioned + static_cast<RealOf<Scalar>>(next / rho) * work.direction;
    rho = next;
  }
}

template <typename Scalar>
void conjugate_gradients(Linearization<Scalar>& model, const RowMatrix<Scalar>& g, double shift,
                         double tolerance, int max_steps, LinearSolve<Scalar>& work) {
  conjugate_gradients(model, g, shift, tolerance, max_steps, work,
                      [](const LinearSolve<Scalar>&) { return false; });
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/operator_laws.hpp"
#include "udv/recover/factors/stack.hpp"

/// The laws of an operator's Gauss-Newton model, one call each.
namespace udv::testing {

inline Stack<double> random_stack(const MeasurementOperator<double>& op, Index rank,
                                  std::uint64_t seed) {
  Stack<double> Z(op.rows(), op.cols(), op.symmetric(), rank);
  Z.Z = random_rows(Z.Z.rows(), rank, seed);
  return Z;
}

inline double inner(const RowMatrix<double>& a, const RowMatrix<double>& b) {
  return a.cwiseProduct(b).sum();
}

/// J P by a central difference, which is exact for the quadratic map Z -> A(U V^T).
inline Vector<double> derivative(const MeasurementOperator<double>& op, const Stack<double>& Z,
                                 const RowMatrix<double>& P) {
  Stack<double> forward = Z, backward = Z;
  forward.Z += P;
  backward.Z -= P;
  Vector<double> ahead, behind;
  apply_stack(op, forward, ahead);
  apply_stack(op, backward, behind);
  return (ahead - behind) / 2;
}

inline RowMatrix<double> normal_product(const MeasurementOperator<double>& op,
                                        const Stack<double>& Z, const RowMatrix<double>& P) {
  RowMatrix<double> Y;
  op.linearize(Z)->normal_product(P, Y);
  return Y;
}

/// <J P, w> = <P, pull_back(w)>.
inline void expect_pull_back_is_adjoint(const MeasurementOperator<double>& op, Index rank) {
  const Stack<double> Z = random_stack(op, rank, 11);
  const RowMatrix<double> P = random_rows(Z.Z.rows(), rank, 12);
  const Vector<double> w = random_vector(op.num_measurements(), 13);
  RowMatrix<double> G;
  pull_back(op, Z, w, G);
  const double size = op.norm_bound() * (Z.Z.squaredNorm() + P.squaredNorm()) * w.norm();
  EXPECT_NEAR(derivative(op, Z, P).dot(w), inner(P, G), 10 * kEps * size);
}

/// normal_product = J^T (J P).
inline void expect_normal_product(const MeasurementOperator<double>& op, Index rank) {
  const Stack<double> Z = random_stack(op, rank, 14);
  const RowMatrix<double> P = random_rows(Z.Z.rows(), rank, 15);
  RowMatrix<double> expected;
  pull_back(op, Z, derivative(op, Z, P), expected);
  const double bound = op.norm_bound();
  const double size = bound * bound * Z.Z.norm() * (Z.Z.squaredNorm() + P.squaredNorm());
  EXPECT_NEAR((normal_product(op, Z, P) - expected).norm(), 0, 10 * kEps * size);
}

/// <P, J^T J Q> = <J^T J P, Q> and <P, J^T J P> = |J P|^2.
inline void expect_normal_product_symmetric_semidefinite(const MeasurementOperator<double>& op,
                                                         Index rank) {
  const Stack<double> Z = random_stack(op, rank, 16);
  const RowMatrix<double> P = random_rows(Z.Z.rows(), rank, 17);
  const RowMatrix<double> Q = random_rows(Z.Z.rows(), rank, 18);
  const double bound = op.norm_bound() * Z.Z.norm();
  const double tolerance = 10 * kEps * bound * bound * P.norm() * Q.norm();
  EXPECT_NEAR(inner(P, normal_product(op, Z, Q)), inner(Q, normal_product(op, Z, P)), tolerance);
  EXPECT_NEAR(inner(P, normal_product(op, Z, P)), derivative(op, Z, P).squaredNorm(),
              20 * kEps * bound * bound * (P.squaredNorm() + Z.Z.squaredNorm()));
}

/// The preconditioner is symmetric and positive definite for every damping that a fit may use.
inline void expect_preconditioner_definite(const MeasurementOperator<double>& op, Index rank) {
  const Stack<double> Z = random_stack(op, rank, 19);
  const RowMatrix<double> R = random_rows(Z.Z.rows(), rank, 20);
  const RowMatrix<double> S = random_rows(Z.Z.rows(), rank, 21);
  const auto model = op.linearize(Z);
  for (const double share : {1e-14, 1e-3, 10.0}) {
    model->factor_preconditioner(share * model->mean_diagonal());
    RowMatrix<double> on_r, on_s;
    model->precondition(R, on_r);
    model->precondition(S, on_s);
    EXPECT_GT(inner(R, on_r), 0) << share;
    // Cauchy-Schwarz in the preconditioner's own norm: the size of what is compared.
    const double size = R.norm() * on_s.norm() + S.norm() * on_r.norm();
    EXPECT_NEAR(inner(R, on_s), inner(S, on_r), 100 * kEps * static_cast<double>(rank) * size);
  }
}

}  // namespace udv::testing

// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include "support/operator_laws.hpp"
#include "udv/recover/factors/stacked_factors.hpp"

/// The laws of an operator's Gauss-Newton model, one call each.
namespace udv::testing {

template <typename Scalar>
StackedFactors<Scalar> random_stack(const MeasurementOperator<Scalar>& op, Index rank,
                                    std::uint64_t seed) {
  StackedFactors<Scalar> Z(op.rows(), op.cols(), op.symmetric(), rank);
  Z.Z = random_rows<Scalar>(Z.Z.rows(), rank, seed);
  return Z;
}

/// J P by a central difference, which is exact for the quadratic map Z -> A(U V^*).
template <typename Scalar>
Reals<Scalar> derivative(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                         const RowMatrix<Scalar>& P) {
  StackedFactors<Scalar> forward = Z, backward = Z;
  forward.Z += P;
  backward.Z -= P;
  Reals<Scalar> ahead, behind;
  apply_stack(op, forward, ahead);
  apply_stack(op, backward, behind);
  return (ahead - behind) / 2;
}

template <typename Scalar>
RowMatrix<Scalar> normal_product(const MeasurementOperator<Scalar>& op,
                                 const StackedFactors<Scalar>& Z, const RowMatrix<Scalar>& P) {
  RowMatrix<Scalar> Y;
  op.linearize(Z)->normal_product(P, Y);
  return Y;
}

/// <J P, w> = Re <P, pull_back(w)>.
template <typename Scalar>
void expect_pull_back_is_adjoint(const MeasurementOperator<Scalar>& op, Index rank) {
  const StackedFactors<Scalar> Z = random_stack(op, rank, 11);
  const RowMatrix<Scalar> P = random_rows<Scalar>(Z.Z.rows(), rank, 12);
  const Reals<Scalar> w = random_vector<RealOf<Scalar>>(op.num_measurements(), 13);
  RowMatrix<Scalar> G;
  pull_back(op, Z, w, G);
  const double size = op.norm_bound() * (Z.Z.squaredNorm() + P.squaredNorm()) * w.norm();
  EXPECT_NEAR(inner(derivative(op, Z, P), w), inner(P, G), 10 * kEpsilon<Scalar> * size);
}

/// normal_product = J^T (J P).
template <typename Scalar>
void expect_normal_product(const MeasurementOperator<Scalar>& op, Index rank) {
  const StackedFactors<Scalar> Z = random_stack(op, rank, 14);
  const RowMatrix<Scalar> P = random_rows<Scalar>(Z.Z.rows(), rank, 15);
  RowMatrix<Scalar> expected;
  pull_back(op, Z, derivative(op, Z, P), expected);
  const double bound = op.norm_bound();
  const double size = bound * bound * Z.Z.norm() * (Z.Z.squaredNorm() + P.squaredNorm());
  EXPECT_NEAR((normal_product(op, Z, P) - expected).norm(), 0, 10 * kEpsilon<Scalar> * size);
}

/// Re <P, J^T J Q> = Re <J^T J P, Q> and Re <P, J^T J P> = |J P|^2.
template <typename Scalar>
void expect_normal_product_symmetric_semidefinite(const MeasurementOperator<Scalar>& op,
                                                  Index rank) {
  const StackedFactors<Scalar> Z = random_stack(op, rank, 16);
  const RowMatrix<Scalar> P = random_rows<Scalar>(Z.Z.rows(), rank, 17);
  const RowMatrix<Scalar> Q = random_rows<Scalar>(Z.Z.rows(), rank, 18);
  const double bound = op.norm_bound() * Z.Z.norm();
  const double tolerance = 10 * kEpsilon<Scalar> * bound * bound * P.norm() * Q.norm();
  EXPECT_NEAR(inner(P, normal_product(op, Z, Q)), inner(Q, normal_product(op, Z, P)), tolerance);
  EXPECT_NEAR(inner(P, normal_product(op, Z, P)), derivative(op, Z, P).squaredNorm(),
              20 * kEpsilon<Scalar> * bound * bound * (P.squaredNorm() + Z.Z.squaredNorm()));
}

/// The preconditioner is symmetric and positive definite for every damping that a fit may use.
template <typename Scalar>
void expect_preconditioner_definite(const MeasurementOperator<Scalar>& op, Index rank) {
  const StackedFactors<Scalar> Z = random_stack(op, rank, 19);
  const RowMatrix<Scalar> R = random_rows<Scalar>(Z.Z.rows(), rank, 20);
  const RowMatrix<Scalar> S = random_rows<Scalar>(Z.Z.rows(), rank, 21);
  const auto model = op.linearize(Z);
  for (const double share : {1e-14, 1e-3, 10.0}) {
    model->factor_preconditioner(share * model->mean_diagonal());
    RowMatrix<Scalar> on_r, on_s;
    model->precondition(R, on_r);
    model->precondition(S, on_s);
    EXPECT_GT(inner(R, on_r), 0) << share;
    // Cauchy-Schwarz in the preconditioner's own norm: the size of what is compared.
    const double size = R.norm() * on_s.norm() + S.norm() * on_r.norm();
    EXPECT_NEAR(inner(R, on_s), inner(S, on_r),
                100 * kEpsilon<Scalar> * static_cast<double>(rank) * size);
  }
}

}  // namespace udv::testing

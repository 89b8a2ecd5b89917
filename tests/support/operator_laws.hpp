// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/random_data.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

/// The laws of a measurement operator, one call each: use them for an operator of your own.
/// A symmetric operator is also asked about unsymmetric U diag(d) V^T, of which it measures the
/// symmetric part: Gauss-Newton models need that.
namespace udv::testing {

/// Random factors of the shapes that an operator takes.
struct OperatorInput {
  OperatorInput(const MeasurementOperator<double>& op, Index width)
      : U(random_rows(op.rows(), width, 1)),
        V(random_rows(op.cols(), width, 2)),
        d(random_vector(width, 3)),
        z(random_vector(op.num_measurements(), 4)) {}

  RowMatrix<double> U, V;
  Vector<double> d, z;

  double magnitude(const MeasurementOperator<double>& op) const {
    return op.norm_bound() * U.norm() * V.norm() * d.norm();
  }
};

inline Vector<double> measured(const MeasurementOperator<double>& op, const RowMatrix<double>& U,
                               const Vector<double>& d, const RowMatrix<double>& V) {
  Vector<double> y;
  op.apply(U, d, V, y);
  return y;
}

inline RowMatrix<double> adjoint_times(const MeasurementOperator<double>& op,
                                       const Vector<double>& z, const RowMatrix<double>& V) {
  RowMatrix<double> out = RowMatrix<double>::Constant(op.rows(), V.cols(), 7);
  op.adjoint_times(z, V, out);
  return out;
}

inline RowMatrix<double> adjoint_transpose_times(const MeasurementOperator<double>& op,
                                                 const Vector<double>& z,
                                                 const RowMatrix<double>& U) {
  RowMatrix<double> out = RowMatrix<double>::Constant(op.cols(), U.cols(), 7);
  op.adjoint_transpose_times(z, U, out);
  return out;
}

/// <A(U diag(d) V^T), z> = <U diag(d), A*(z) V> = <V diag(d), A*(z)^T U>.
inline void expect_adjoint_identity(const MeasurementOperator<double>& op, Index width) {
  const OperatorInput in(op, width);
  const double left = measured(op, in.U, in.d, in.V).dot(in.z);
  const RowMatrix<double> Ud = in.U * in.d.asDiagonal(), Vd = in.V * in.d.asDiagonal();
  const double through_u = Ud.cwiseProduct(adjoint_times(op, in.z, in.V)).sum();
  const double through_v = Vd.cwiseProduct(adjoint_transpose_times(op, in.z, in.U)).sum();
  // Errors of sums of `width` terms, of random sign, in each measurement.
  const double tolerance = 10 * kEps * in.magnitude(op) * in.z.norm();
  EXPECT_NEAR(left, through_u, tolerance);
  EXPECT_NEAR(left, through_v, tolerance);
}

/// Measurements depend on the product alone: A(U diag(d) V^T) = A(X diag(1) I^T).
inline void expect_that_only_the_product_counts(const MeasurementOperator<double>& op,
                                                Index width) {
  const OperatorInput in(op, width);
  const RowMatrix<double>& V = op.symmetric() ? in.U : in.V;
  const auto identity = RowMatrix<double>::Identity(op.cols(), op.cols());
  const Vector<double> y = measured(op, in.U, in.d, V);
  const Vector<double> of_product =
      measured(op, dense(in.U, in.d, V), Vector<double>::Ones(op.cols()), identity);
  EXPECT_NEAR((y - of_product).norm(), 0, 10 * kEps * in.magnitude(op));
}

/// Nothing is measured as zero, and the products of no columns are empty.
inline void expect_zero_of_no_columns(const MeasurementOperator<double>& op) {
  const RowMatrix<double> U(op.rows(), 0), V(op.cols(), 0);
  const Vector<double> d(0), b = random_vector(op.num_measurements(), 4);
  Vector<double> y = Vector<double>::Constant(op.num_measurements(), 7), residual = y;
  op.apply(U, d, V, y);
  EXPECT_TRUE(y.isZero(0)) << "apply";
  RowMatrix<double> for_u(op.rows(), 0), for_v(op.cols(), 0);
  op.residual_products(U, d, op.symmetric() ? U : V, b, residual, for_u, for_v);
  EXPECT_EQ(residual, -b) << "residual_products";
}

/// A(U diag(a d + e) V^T) = a A(U diag(d) V^T) + A(U diag(e) V^T).
inline void expect_linear_in_weights(const MeasurementOperator<double>& op, Index width) {
  const OperatorInput in(op, width);
  const Vector<double> e = random_vector(width, 5);
  const Vector<double> sum = measured(op, in.U, -2.5 * in.d + e, in.V);
  const Vector<double> parts = -2.5 * measured(op, in.U, in.d, in.V) + measured(op, in.U, e, in.V);
  EXPECT_NEAR((sum - parts).norm(), 0,
              10 * kEps * op.norm_bound() * in.U.norm() * in.V.norm() * (in.d.norm() + e.norm()));
}

/// A*(z)^T is the transpose of A*(z), and the same matrix where the operator is symmetric.
inline void expect_transposed_adjoint(const MeasurementOperator<double>& op) {
  const OperatorInput in(op, 1);
  const RowMatrix<double> back =
      adjoint_times(op, in.z, RowMatrix<double>::Identity(op.cols(), op.cols()));
  const RowMatrix<double> transposed =
      adjoint_transpose_times(op, in.z, RowMatrix<double>::Identity(op.rows(), op.rows()));
  // An entry of A*(z) is a sum over all measurements.
  const double tolerance = 10 * kEps * op.norm_bound() * in.z.norm();
  EXPECT_NEAR((back - transposed.transpose()).norm(), 0, tolerance);
  if (op.symmetric()) {
    EXPECT_NEAR((back - back.transpose()).norm(), 0, tolerance);
  }
}

/// adjoint_products gives both products at once.
inline void expect_joint_products(const MeasurementOperator<double>& op, Index width) {
  const OperatorInput in(op, width);
  RowMatrix<double> for_u(op.rows(), width), for_v(op.cols(), width);
  op.adjoint_products(in.z, in.U, in.V, for_u, for_v);
  const double tolerance = 10 * kEps * op.norm_bound() * in.z.norm();
  EXPECT_NEAR((for_u - adjoint_times(op, in.z, in.V)).norm(), 0, tolerance * in.V.norm());
  EXPECT_NEAR((for_v - adjoint_transpose_times(op, in.z, in.U)).norm(), 0, tolerance * in.U.norm());
}

/// residual_products = A(U diag(d) V^T) - b, then its two products; for_v stays where symmetric.
inline void expect_residual_products(const MeasurementOperator<double>& op, Index width) {
  const OperatorInput in(op, width);
  const RowMatrix<double>& V = op.symmetric() ? in.U : in.V;
  const Vector<double> expected = measured(op, in.U, in.d, V) - in.z;
  Vector<double> residual;
  RowMatrix<double> for_u(op.rows(), width);
  RowMatrix<double> for_v = RowMatrix<double>::Constant(op.cols(), width, 7);
  op.residual_products(in.U, in.d, V, in.z, residual, for_u, for_v);
  const double size = in.magnitude(op) + in.z.norm();
  EXPECT_NEAR((residual - expected).norm(), 0, 10 * kEps * size);
  const double tolerance = 10 * kEps * size * op.norm_bound();
  EXPECT_NEAR((for_u - adjoint_times(op, expected, V)).norm(), 0, tolerance * V.norm());
  if (op.symmetric()) {
    EXPECT_TRUE((for_v.array() == 7).all());
  } else {
    EXPECT_NEAR((for_v - adjoint_transpose_times(op, expected, in.U)).norm(), 0,
                tolerance * in.U.norm());
  }
}

/// |A(X)| <= norm_bound |X|_F for the X that A favours most (by power iteration on A*A).
inline void expect_norm_bound(const MeasurementOperator<double>& op) {
  const auto identity = RowMatrix<double>::Identity(op.cols(), op.cols());
  const Vector<double> ones = Vector<double>::Ones(op.cols());
  RowMatrix<double> X = random_rows(op.rows(), op.cols(), 6);
  if (op.symmetric()) X = (X + X.transpose()).eval();
  for (int step = 0; step < 50; ++step) {
    X /= X.norm();
    X = adjoint_times(op, measured(op, X, ones, identity), identity);
  }
  X /= X.norm();
  EXPECT_LE(measured(op, X, ones, identity).norm(), op.norm_bound() * (1 + 100 * kEps));
}

/// mean_gain = |A(X)|^2 / |X|_F^2 on average over random (symmetric) Gaussian X, within 15 %.
inline void expect_mean_gain(const MeasurementOperator<double>& op) {
  const auto identity = RowMatrix<double>::Identity(op.cols(), op.cols());
  double seen = 0, size = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RowMatrix<double> X = random_rows(op.rows(), op.cols(), 100 + seed);
    if (op.symmetric()) X = (X + X.transpose()).eval();
    seen += measured(op, X, Vector<double>::Ones(op.cols()), identity).squaredNorm();
    size += X.squaredNorm();
  }
  EXPECT_NEAR(op.mean_gain() / (seen / size), 1, 0.15);
}

/// A subset of the measurements is the named ones in the named order.
inline void expect_subset_law(const MeasurementOperator<double>& op) {
  const OperatorInput in(op, 3);
  const RowMatrix<double>& V = op.symmetric() ? in.U : in.V;
  const std::vector<Index> which{op.num_measurements() - 1, 0, 4};
  const auto part = op.subset(which);
  EXPECT_EQ(part->num_measurements(), 3);
  EXPECT_EQ(part->symmetric(), op.symmetric());
  const Vector<double> expected = measured(op, in.U, in.d, V)(which);
  EXPECT_NEAR((measured(*part, in.U, in.d, V) - expected).norm(), 0, 10 * kEps * in.magnitude(op));
}

}  // namespace udv::testing

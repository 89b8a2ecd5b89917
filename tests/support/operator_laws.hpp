// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "support/random_data.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

/// The laws of a measurement operator, one call each: use them for an operator of your own.
/// A symmetric operator is also asked about unsymmetric U diag(d) V^*, of which it measures the
/// symmetric (Hermitian) part: Gauss-Newton models need that.
namespace udv::testing {

/// A matrix argument whose scalar is that of the operator, so that expressions may be given.
template <typename Scalar>
using Factor = std::type_identity_t<RowMatrix<Scalar>>;

/// Random factors of the shapes that an operator takes.
template <typename Scalar>
struct OperatorInput {
  OperatorInput(const MeasurementOperator<Scalar>& op, Index width)
      : U(random_rows<Scalar>(op.rows(), width, 1)),
        V(random_rows<Scalar>(op.cols(), width, 2)),
        d(random_vector<RealOf<Scalar>>(width, 3)),
        z(random_vector<RealOf<Scalar>>(op.num_measurements(), 4)) {}

  RowMatrix<Scalar> U, V;
  Reals<Scalar> d, z;

  double magnitude(const MeasurementOperator<Scalar>& op) const {
    return op.norm_bound() * U.norm() * V.norm() * d.norm();
  }
};

template <typename Scalar>
RowMatrix<Scalar> identity(Index size) {
  return RowMatrix<Scalar>::Identity(size, size);
}

template <typename Scalar>
Reals<Scalar> measured(const MeasurementOperator<Scalar>& op, const Factor<Scalar>& U,
                       const Reals<Scalar>& d, const Factor<Scalar>& V) {
  Reals<Scalar> y;
  op.apply(U, d, V, y);
  return y;
}

/// A(X) of a formed X.
template <typename Scalar>
Reals<Scalar> measured(const MeasurementOperator<Scalar>& op, const Factor<Scalar>& X) {
  return measured(op, X, Reals<Scalar>::Ones(op.cols()), identity<Scalar>(op.cols()));
}

template <typename Scalar>
RowMatrix<Scalar> adjoint_times(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& z,
                                const Factor<Scalar>& V) {
  RowMatrix<Scalar> out = RowMatrix<Scalar>::Constant(op.rows(), V.cols(), 7);
  op.adjoint_times(z, V, out);
  return out;
}

template <typename Scalar>
RowMatrix<Scalar> adjoint_transpose_times(const MeasurementOperator<Scalar>& op,
                                          const Reals<Scalar>& z, const Factor<Scalar>& U) {
  RowMatrix<Scalar> out = RowMatrix<Scalar>::Constant(op.cols(), U.cols(), 7);
  op.adjoint_transpose_times(z, U, out);
  return out;
}

/// A Gaussian matrix of the kind that an operator measures.
template <typename Scalar>
RowMatrix<Scalar> random_measurable(const MeasurementOperator<Scalar>& op, std::uint64_t seed) {
  const RowMatrix<Scalar> X = random_rows<Scalar>(op.rows(), op.cols(), seed);
  return op.symmetric() ? RowMatrix<Scalar>(X + X.adjoint()) : X;
}

/// <A(U diag(d) V^*), z> = Re <U diag(d), A*(z) V> = Re <V diag(d), A*(z)^* U>.
template <typename Scalar>
void expect_adjoint_identity(const MeasurementOperator<Scalar>& op, Index width) {
  const OperatorInput<Scalar> in(op, width);
  const double left = inner(measured(op, in.U, in.d, in.V), in.z);
  const auto d = in.d.template cast<Scalar>().asDiagonal();
  const RowMatrix<Scalar> Ud = in.U * d, Vd = in.V * d;
  // Errors of sums of `width` terms, of random sign, in each measurement.
  const double tolerance = 10 * kEpsilon<Scalar> * in.magnitude(op) * in.z.norm();
  EXPECT_NEAR(left, inner(Ud, adjoint_times(op, in.z, in.V)), tolerance);
  EXPECT_NEAR(left, inner(Vd, adjoint_transpose_times(op, in.z, in.U)), tolerance);
}

/// Measurements depend on the product alone: A(U diag(d) V^*) = A(X diag(1) I^*).
template <typename Scalar>
void expect_that_only_the_product_counts(const MeasurementOperator<Scalar>& op, Index width) {
  const OperatorInput<Scalar> in(op, width);
  const RowMatrix<Scalar>& V = op.symmetric() ? in.U : in.V;
  const Reals<Scalar> difference = measured(op, in.U, in.d, V) - measured(op, dense(in.U, in.d, V));
  EXPECT_NEAR(difference.norm(), 0, 10 * kEpsilon<Scalar> * in.magnitude(op));
}

/// Nothing is measured as zero, and the products of no columns are empty.
template <typename Scalar>
void expect_zero_of_no_columns(const MeasurementOperator<Scalar>& op) {
  const RowMatrix<Scalar> U(op.rows(), 0), V(op.cols(), 0);
  const Reals<Scalar> d(0), b = random_vector<RealOf<Scalar>>(op.num_measurements(), 4);
  Reals<Scalar> y = b, residual;
  op.apply(U, d, op.symmetric() ? U : V, y);
  EXPECT_TRUE(y.isZero(0)) << "apply";
  RowMatrix<Scalar> for_u(op.rows(), 0), for_v(op.cols(), 0);
  op.residual_products(U, d, op.symmetric() ? U : V, b, residual, for_u, for_v);
  EXPECT_EQ(residual, -b) << "residual_products";
}

/// A(U diag(a d + e) V^*) = a A(U diag(d) V^*) + A(U diag(e) V^*).
template <typename Scalar>
void expect_linear_in_weights(const MeasurementOperator<Scalar>& op, Index width) {
  using Real = RealOf<Scalar>;
  const OperatorInput<Scalar> in(op, width);
  const Reals<Scalar> e = random_vector<Real>(width, 5);
  const Reals<Scalar> sum = measured(op, in.U, Real(-2.5) * in.d + e, in.V);
  const Reals<Scalar> parts =
      Real(-2.5) * measured(op, in.U, in.d, in.V) + measured(op, in.U, e, in.V);
  const double size = op.norm_bound() * in.U.norm() * in.V.norm() * (in.d.norm() + e.norm());
  EXPECT_NEAR((sum - parts).norm(), 0, 10 * kEpsilon<Scalar> * size);
}

/// A*(z)^* is the conjugate transpose of A*(z), and the same matrix where the operator is
/// symmetric.
template <typename Scalar>
void expect_transposed_adjoint(const MeasurementOperator<Scalar>& op) {
  const OperatorInput<Scalar> in(op, 1);
  const auto back = adjoint_times(op, in.z, identity<Scalar>(op.cols()));
  const auto transposed = adjoint_transpose_times(op, in.z, identity<Scalar>(op.rows()));
  // An entry of A*(z) is a sum over all measurements.
  const double tolerance = 10 * kEpsilon<Scalar> * op.norm_bound() * in.z.norm();
  EXPECT_NEAR((back - transposed.adjoint()).norm(), 0, tolerance);
  if (op.symmetric()) {
    EXPECT_NEAR((back - back.adjoint()).norm(), 0, tolerance);
  }
}

/// adjoint_products gives both products at once.
template <typename Scalar>
void expect_joint_products(const MeasurementOperator<Scalar>& op, Index width) {
  const OperatorInput<Scalar> in(op, width);
  RowMatrix<Scalar> for_u(op.rows(), width), for_v(op.cols(), width);
  op.adjoint_products(in.z, in.U, in.V, for_u, for_v);
  const double tolerance = 10 * kEpsilon<Scalar> * op.norm_bound() * in.z.norm();
  EXPECT_NEAR((for_u - adjoint_times(op, in.z, in.V)).norm(), 0, tolerance * in.V.norm());
  EXPECT_NEAR((for_v - adjoint_transpose_times(op, in.z, in.U)).norm(), 0, tolerance * in.U.norm());
}

/// residual_products = A(U diag(d) V^*) - b, then its two products; for_v stays where symmetric.
template <typename Scalar>
void expect_residual_products(const MeasurementOperator<Scalar>& op, Index width) {
  const OperatorInput<Scalar> in(op, width);
  const RowMatrix<Scalar>& V = op.symmetric() ? in.U : in.V;
  const Reals<Scalar> expected = measured(op, in.U, in.d, V) - in.z;
  Reals<Scalar> residual;
  RowMatrix<Scalar> for_u(op.rows(), width);
  RowMatrix<Scalar> for_v = RowMatrix<Scalar>::Constant(op.cols(), width, 7);
  op.residual_products(in.U, in.d, V, in.z, residual, for_u, for_v);
  const double size = in.magnitude(op) + in.z.norm();
  EXPECT_NEAR((residual - expected).norm(), 0, 10 * kEpsilon<Scalar> * size);
  const double tolerance = 10 * kEpsilon<Scalar> * size * op.norm_bound();
  EXPECT_NEAR((for_u - adjoint_times(op, expected, V)).norm(), 0, tolerance * V.norm());
  if (op.symmetric()) {
    EXPECT_TRUE((for_v.array() == Scalar(7)).all());
  } else {
    EXPECT_NEAR((for_v - adjoint_transpose_times(op, expected, in.U)).norm(), 0,
                tolerance * in.U.norm());
  }
}

/// |A(X)| <= norm_bound |X|_F for the X that A favours most (by power iteration on A*A).
template <typename Scalar>
void expect_norm_bound(const MeasurementOperator<Scalar>& op) {
  RowMatrix<Scalar> X = random_measurable(op, 6);
  for (int step = 0; step < 50; ++step) {
    X /= X.norm();
    X = adjoint_times(op, measured(op, X), identity<Scalar>(op.cols()));
  }
  X /= X.norm();
  EXPECT_LE(measured(op, X).norm(), op.norm_bound() * (1 + 100 * kEpsilon<Scalar>));
}

/// mean_gain = |A(X)|^2 / |X|_F^2 on average over random (symmetric) Gaussian X, within 15 %.
template <typename Scalar>
void expect_mean_gain(const MeasurementOperator<Scalar>& op) {
  double seen = 0, size = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RowMatrix<Scalar> X = random_measurable(op, 100 + seed);
    seen += measured(op, X).squaredNorm();
    size += X.squaredNorm();
  }
  EXPECT_NEAR(op.mean_gain() / (seen / size), 1, 0.15);
}

/// A subset of the measurements is the named ones in the named order, each with all its parts.
template <typename Scalar>
void expect_subset_law(const MeasurementOperator<Scalar>& op) {
  const OperatorInput<Scalar> in(op, 3);
  const RowMatrix<Scalar>& V = op.symmetric() ? in.U : in.V;
  const Index parts = op.parts();
  const std::vector<Index> which{op.num_measurements() / parts - 1, 0, 4};
  std::vector<Index> numbers;
  for (const Index i : which)
    for (Index k = 0; k < parts; ++k) numbers.push_back(parts * i + k);
  const auto part = op.subset(which);
  ASSERT_EQ(part->num_measurements(), 3 * parts);
  EXPECT_EQ(part->symmetric(), op.symmetric());
  EXPECT_EQ(part->parts(), parts);
  const Reals<Scalar> expected = measured(op, in.U, in.d, V)(numbers);
  EXPECT_NEAR((measured(*part, in.U, in.d, V) - expected).norm(), 0,
              10 * kEpsilon<Scalar> * in.magnitude(op));
}

}  // namespace udv::testing

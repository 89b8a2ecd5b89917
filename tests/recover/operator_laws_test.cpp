// SPDX-License-Identifier: MIT
// The laws of support/operator_laws.hpp for every operator of support/operator_registry.hpp.
#include "support/operator_laws.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "support/every_scalar.hpp"
#include "support/operator_registry.hpp"

namespace udv::testing {
namespace operator_laws_test {

template <typename Scalar>
class OperatorLaw : public ::testing::Test {};
TYPED_TEST_SUITE(OperatorLaw, EveryScalar, ScalarName);

TYPED_TEST(OperatorLaw, TransposedAdjointIsTheConjugateTranspose) {
  for_every_operator<TypeParam>(
      [](const auto& item) { expect_transposed_adjoint(*item.make(kSmallOperator)); });
}

TYPED_TEST(OperatorLaw, NoColumnsMeasureAsZero) {
  for_every_operator<TypeParam>(
      [](const auto& item) { expect_zero_of_no_columns(*item.make(kSmallOperator)); });
}

TYPED_TEST(OperatorLaw, NormBoundHolds) {
  for_every_operator<TypeParam>(
      [](const auto& item) { expect_norm_bound(*item.make(kSmallOperator)); });
}

TYPED_TEST(OperatorLaw, SubsetsAreTheNamedMeasurements) {
  for_every_operator<TypeParam>([](const auto& item) {
    const auto op = item.make(kSmallOperator);
    if (item.by_images) return;  // tested with images, in imaging_test
    if (item.subsets) {
      expect_subset_law(*op);
    } else {
      EXPECT_EQ(error_of([&] { op->subset({0}); }),
                message("operator '", op->name(), "' cannot hold out measurements"));
    }
  });
}

TYPED_TEST(OperatorLaw, DegreesOfFreedomGrowWithTheRankUpToAFullMatrix) {
  for_every_operator<TypeParam>([](const auto& item) {
    const auto op = item.make(kSmallOperator);
    const Index p = op->rows(), q = op->cols();
    // Real numbers in a matrix; a Hermitian one has a real diagonal.
    const Index full = kIsComplex<TypeParam> ? (op->symmetric() ? p * p : 2 * p * q)
                                             : (op->symmetric() ? p * (p + 1) / 2 : p * q);
    double before = 0;
    for (Index rank = 1; rank <= 3; ++rank) {
      EXPECT_GT(op->degrees_of_freedom(rank), before);
      EXPECT_LE(op->degrees_of_freedom(rank), static_cast<double>(full));
      before = op->degrees_of_freedom(rank);
    }
  });
}

TYPED_TEST(OperatorLaw, MeanGainIsThatOfRandomMatrices) {
  for_every_operator<TypeParam>([](const auto& item) {
    if (item.unbiased) expect_mean_gain(*item.make(30));
  });
}

TYPED_TEST(OperatorLaw, AdjointIdentityHoldsOnBothSides) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_adjoint_identity(op, width); });
}

TYPED_TEST(OperatorLaw, OnlyTheProductCounts) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_that_only_the_product_counts(op, width); });
}

TYPED_TEST(OperatorLaw, ApplyIsLinearInTheWeights) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_linear_in_weights(op, width); });
}

TYPED_TEST(OperatorLaw, JointProductsAreTheSingleOnes) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_joint_products(op, width); });
}

TYPED_TEST(OperatorLaw, ResidualProductsAreThoseOfTheResidual) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_residual_products(op, width); });
}

// Large enough to be cut into several blocks.
TYPED_TEST(OperatorLaw, HoldsForLargeOperators) {
  for_every_operator<TypeParam>([](const auto& item) {
    const auto op = item.make(item.large);
    expect_adjoint_identity(*op, 18);
    expect_residual_products(*op, 4);
  });
}

// Every product, one after the other.
template <typename Scalar>
std::vector<RowMatrix<Scalar>> all_products(const MeasurementOperator<Scalar>& op, Index width,
                                            int threads) {
  const ThreadCount guard(threads);
  const OperatorInput<Scalar> in(op, width);
  Reals<Scalar> residual;
  RowMatrix<Scalar> for_u(op.rows(), width);
  RowMatrix<Scalar> for_v = RowMatrix<Scalar>::Zero(op.cols(), width);
  op.residual_products(in.U, in.d, op.symmetric() ? in.U : in.V, in.z, residual, for_u, for_v);
  return {measured(op, in.U, in.d, in.V).template cast<Scalar>(),
          adjoint_times(op, in.z, in.V),
          adjoint_transpose_times(op, in.z, in.U),
          residual.template cast<Scalar>(),
          for_u,
          for_v};
}

TYPED_TEST(OperatorLaw, BitsDoNotDependOnTheNumberOfThreads) {
  for_every_operator<TypeParam>([](const auto& item) {
    const auto op = item.make(item.large);
    for (const Index width : {4, 18}) {
      const auto alone = all_products(*op, width, 1);
      EXPECT_EQ(all_products(*op, width, 2), alone) << width;
      EXPECT_EQ(all_products(*op, width, 5), alone) << width;
    }
  });
}

}  // namespace operator_laws_test
}  // namespace udv::testing

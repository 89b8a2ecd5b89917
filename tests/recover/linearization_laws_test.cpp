// SPDX-License-Identifier: MIT
// The laws of support/linearization_laws.hpp for every operator of support/operator_registry.hpp.
#include "support/linearization_laws.hpp"

#include <gtest/gtest.h>

#include "support/every_scalar.hpp"
#include "support/operator_registry.hpp"

namespace udv::testing {
namespace linearization_laws_test {

template <typename Scalar>
class LinearizationLaw : public ::testing::Test {};
TYPED_TEST_SUITE(LinearizationLaw, EveryScalar, ScalarName);

TYPED_TEST(LinearizationLaw, PullBackIsAdjointToTheDerivative) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_pull_back_is_adjoint(op, width); });
}

TYPED_TEST(LinearizationLaw, NormalProductIsTheDerivativeTwice) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_normal_product(op, width); });
}

TYPED_TEST(LinearizationLaw, NormalProductIsSymmetricAndSemidefinite) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_normal_product_symmetric_semidefinite(op, width); });
}

TYPED_TEST(LinearizationLaw, PreconditionerIsSymmetricAndDefinite) {
  for_every_operator_and_width<TypeParam>(
      [](const auto& op, Index width) { expect_preconditioner_definite(op, width); });
}

// Rows of U times (gain V^* V + damping I)^-1, rows of V times (gain U^* U + damping I)^-1.
TYPED_TEST(LinearizationLaw, GenericPreconditionerIsThatOfAnIsometry) {
  const auto op = make_dense<TypeParam>(kSmallOperator, 9, false);
  const StackedFactors<TypeParam> Z = random_stack<TypeParam>(*op, 3, 24);
  const auto R = random_rows<TypeParam>(Z.Z.rows(), 3, 25);
  const auto model = op->linearize(Z);
  const double damping = model->mean_diagonal();
  RowMatrix<TypeParam> Y;
  model->factor_preconditioner(damping);
  model->precondition(R, Y);
  const auto times_block = [&](const auto& rows, const auto& other) -> RowMatrix<TypeParam> {
    using Real = RealOf<TypeParam>;
    return static_cast<Real>(op->mean_gain()) * product(rows, product(other.adjoint(), other)) +
           static_cast<Real>(damping) * rows;
  };
  // Blocks are made definite by 5e3 rounding units of their trace, some 3 times the damping.
  const double tolerance = 3 * 5e3 * kEpsilon<TypeParam> * R.norm();
  const Index p = op->rows(), q = op->cols();
  EXPECT_NEAR((times_block(Y.topRows(p), Z.V()) - R.topRows(p)).norm(), 0, tolerance);
  EXPECT_NEAR((times_block(Y.bottomRows(q), Z.U()) - R.bottomRows(q)).norm(), 0, tolerance);
}

TYPED_TEST(LinearizationLaw, NormalProductOfLargeOperatorsIsTheDerivativeTwice) {
  for_every_operator<TypeParam>(
      [](const auto& item) { expect_normal_product(*item.make(item.large), 18); });
}

// A normal product and a preconditioned one.
template <typename Scalar>
std::vector<RowMatrix<Scalar>> products(const MeasurementOperator<Scalar>& op, Index width,
                                        int threads) {
  const ThreadCount guard(threads);
  const StackedFactors<Scalar> Z = random_stack(op, width, 22);
  const auto model = op.linearize(Z);
  RowMatrix<Scalar> normal, preconditioned;
  model->normal_product(random_rows<Scalar>(Z.Z.rows(), width, 23), normal);
  model->factor_preconditioner(model->mean_diagonal());
  model->precondition(normal, preconditioned);
  return {normal, preconditioned};
}

TYPED_TEST(LinearizationLaw, BitsDoNotDependOnTheNumberOfThreads) {
  for_every_operator<TypeParam>([](const auto& item) {
    const auto op = item.make(item.large);
    for (const Index width : {4, 18}) {
      const auto alone = products(*op, width, 1);
      EXPECT_EQ(products(*op, width, 2), alone) << width;
      EXPECT_EQ(products(*op, width, 5), alone) << width;
    }
  });
}

}  // namespace linearization_laws_test
}  // namespace udv::testing

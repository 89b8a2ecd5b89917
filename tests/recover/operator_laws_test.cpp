// SPDX-License-Identifier: MIT
// The laws of support/operator_laws.hpp for every operator of support/operator_registry.hpp.
#include "support/operator_laws.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "support/linearization_laws.hpp"
#include "support/operator_registry.hpp"

namespace udv::testing {
namespace {

constexpr Index kSmall = 12;

std::string name_of(const ::testing::TestParamInfo<OperatorCase>& info) {
  return info.param.name;
}

class OperatorLaw : public ::testing::TestWithParam<OperatorCase> {
 protected:
  const OperatorPointer op = GetParam().make(kSmall);
};

TEST_P(OperatorLaw, TransposedAdjointIsTheTranspose) {
  expect_transposed_adjoint(*op);
}

TEST_P(OperatorLaw, NoColumnsMeasureAsZero) {
  expect_zero_of_no_columns(*op);
}

TEST_P(OperatorLaw, NormBoundHolds) {
  expect_norm_bound(*op);
}

TEST_P(OperatorLaw, SubsetsAreTheNamedMeasurements) {
  if (GetParam().subsets) {
    expect_subset_law(*op);
  } else {
    EXPECT_EQ(error_of([&] { op->subset({0}); }),
              message("operator '", op->name(), "' cannot hold out measurements"));
  }
}

TEST_P(OperatorLaw, DegreesOfFreedomGrowWithTheRankUpToAFullMatrix) {
  const double full = static_cast<double>(op->symmetric() ? op->rows() * (op->rows() + 1) / 2
                                                          : op->rows() * op->cols());
  double before = 0;
  for (Index rank = 1; rank <= 3; ++rank) {
    EXPECT_GT(op->degrees_of_freedom(rank), before);
    EXPECT_LE(op->degrees_of_freedom(rank), full);
    before = op->degrees_of_freedom(rank);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, OperatorLaw, ::testing::ValuesIn(operator_cases()), name_of);

std::vector<OperatorCase> unbiased_cases() {
  std::vector<OperatorCase> cases;
  for (const OperatorCase& item : operator_cases())
    if (item.unbiased) cases.push_back(item);
  return cases;
}

class UnbiasedOperatorLaw : public ::testing::TestWithParam<OperatorCase> {};

TEST_P(UnbiasedOperatorLaw, MeanGainIsThatOfRandomMatrices) {
  expect_mean_gain(*GetParam().make(30));
}

INSTANTIATE_TEST_SUITE_P(Every, UnbiasedOperatorLaw, ::testing::ValuesIn(unbiased_cases()),
                         name_of);

// Kernels change where widths pass 16 and 32.
class OperatorLawOfWidth : public ::testing::TestWithParam<std::tuple<OperatorCase, Index>> {
 protected:
  const OperatorPointer op = std::get<0>(GetParam()).make(kSmall);
  const Index width = std::get<1>(GetParam());
};

TEST_P(OperatorLawOfWidth, AdjointIdentityHoldsOnBothSides) {
  expect_adjoint_identity(*op, width);
}

TEST_P(OperatorLawOfWidth, OnlyTheProductCounts) {
  expect_that_only_the_product_counts(*op, width);
}

TEST_P(OperatorLawOfWidth, ApplyIsLinearInTheWeights) {
  expect_linear_in_weights(*op, width);
}

TEST_P(OperatorLawOfWidth, JointProductsAreTheSingleOnes) {
  expect_joint_products(*op, width);
}

TEST_P(OperatorLawOfWidth, ResidualProductsAreThoseOfTheResidual) {
  expect_residual_products(*op, width);
}

TEST_P(OperatorLawOfWidth, PullBackIsAdjointToTheDerivative) {
  expect_pull_back_is_adjoint(*op, width);
}

TEST_P(OperatorLawOfWidth, NormalProductIsTheDerivativeTwice) {
  expect_normal_product(*op, width);
}

TEST_P(OperatorLawOfWidth, NormalProductIsSymmetricAndSemidefinite) {
  expect_normal_product_symmetric_semidefinite(*op, width);
}

TEST_P(OperatorLawOfWidth, PreconditionerIsSymmetricAndDefinite) {
  expect_preconditioner_definite(*op, width);
}

INSTANTIATE_TEST_SUITE_P(Every, OperatorLawOfWidth,
                         ::testing::Combine(::testing::ValuesIn(operator_cases()),
                                            ::testing::Values(1, 3, 16, 17, 33, 100)),
                         [](const auto& info) {
                           return message(std::get<0>(info.param).name, "_width_",
                                          std::get<1>(info.param));
                         });

// All products of an operator that is large enough to be cut into several blocks.
std::vector<RowMatrix<double>> all_products(const Operator& op, Index width, int threads) {
  const ThreadCount guard(threads);
  const OperatorInput in(op, width);
  const RowMatrix<double>& V = op.symmetric() ? in.U : in.V;
  Vector<double> residual;
  RowMatrix<double> for_u(op.rows(), width);
  RowMatrix<double> for_v = RowMatrix<double>::Zero(op.cols(), width);
  op.residual_products(in.U, in.d, V, in.z, residual, for_u, for_v);
  const Stack<double> Z = random_stack(op, width, 22);
  const auto model = op.linearize(Z);
  RowMatrix<double> normal, preconditioned;
  model->normal_product(random_rows(Z.Z.rows(), width, 23), normal);
  model->factor_preconditioner(model->mean_diagonal());
  model->precondition(normal, preconditioned);
  return {measured(op, in.U, in.d, in.V),
          adjoint_times(op, in.z, in.V),
          adjoint_transpose_times(op, in.z, in.U),
          residual,
          for_u,
          for_v,
          normal,
          preconditioned};
}

class LargeOperatorLaw : public ::testing::TestWithParam<OperatorCase> {
 protected:
  const OperatorPointer op = GetParam().make(GetParam().large);
};

TEST_P(LargeOperatorLaw, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Index width : {4, 18}) {
    const auto alone = all_products(*op, width, 1);
    EXPECT_EQ(all_products(*op, width, 2), alone) << width;
    EXPECT_EQ(all_products(*op, width, 5), alone) << width;
  }
}

TEST_P(LargeOperatorLaw, AdjointIdentityHolds) {
  expect_adjoint_identity(*op, 18);
}

TEST_P(LargeOperatorLaw, ResidualProductsAreThoseOfTheResidual) {
  expect_residual_products(*op, 4);
}

TEST_P(LargeOperatorLaw, NormalProductIsTheDerivativeTwice) {
  expect_normal_product(*op, 18);
}

INSTANTIATE_TEST_SUITE_P(Every, LargeOperatorLaw, ::testing::ValuesIn(operator_cases()), name_of);

}  // namespace
}  // namespace udv::testing

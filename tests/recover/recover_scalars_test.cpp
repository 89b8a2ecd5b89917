// SPDX-License-Identifier: MIT
// recover() over float, double and the complex numbers made of them.
#include <gtest/gtest.h>

#include "recover/solver/solve_state.hpp"
#include "support/every_scalar.hpp"
#include "support/planted_problems.hpp"
#include "support/reference.hpp"

namespace udv {
namespace recover_scalars_test {

using testing::BasicPlanted;
using testing::expect_same_bits;
using testing::planted_places;

/// What an exact fit leaves: far below any noise, well above rounding.
template <typename Scalar>
constexpr double kErrorLimit = sizeof(RealOf<Scalar>) == 4 ? 1e-4 : 1e-8;

template <typename Scalar>
class RecoverOver : public ::testing::Test {
 protected:
  static BasicPlanted<Scalar> rectangular() { return planted_places<Scalar>(30, 25, false, 2, 4); }
  static BasicPlanted<Scalar> symmetric() { return planted_places<Scalar>(30, 30, true, 2, 4); }

  static void expect_found(const BasicPlanted<Scalar>& planted,
                           const RecoverOptions& options = {}) {
    const BasicRecovery<Scalar> found = recover(planted.problem, options);
    EXPECT_EQ(found.rank, planted.U.cols());
    EXPECT_LE(planted.relative_error(found), kErrorLimit<Scalar>);
    EXPECT_EQ(to_string(found.certificate.verdict), "global");
    EXPECT_EQ(to_string(found.stop_reason), "converged");
    EXPECT_TRUE(found.converged);
  }

  static BasicRecovery<Scalar> interrupted(const BasicProblem<Scalar>& problem,
                                           const RecoverOptions& options, int call,
                                           std::string& saved) {
    int calls = 0;
    BasicHooks<Scalar> hooks;
    hooks.observer = [&](const IterationRecord&) {
      return ++calls == call ? Verdict::kInterrupt : Verdict::kContinue;
    };
    hooks.save = [&](const std::string& state) { saved = state; };
    return recover(problem, options, hooks);
  }
};
TYPED_TEST_SUITE(RecoverOver, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(RecoverOver, FindsARectangularMatrixFromItsEntries) {
  this->expect_found(this->rectangular());
}

TYPED_TEST(RecoverOver, FindsASymmetricMatrixFromItsEntries) {
  this->expect_found(this->symmetric());
}

TYPED_TEST(RecoverOver, FindsARectangularMatrixFromInnerProducts) {
  this->expect_found(testing::planted_sensing<TypeParam>(12, 10, false, 2, 120));
}

TYPED_TEST(RecoverOver, FindsASymmetricMatrixFromInnerProducts) {
  // Hermitian: 2 p k - k^2 parameters, one real number per measurement.
  const Index n = kIsComplex<TypeParam> ? 140 : 70;
  this->expect_found(testing::planted_sensing<TypeParam>(12, 12, true, 2, n));
}

TYPED_TEST(RecoverOver, FindsASemidefiniteMatrixFromIntensities) {
  const Index n = kIsComplex<TypeParam> ? 220 : 110;
  this->expect_found(testing::planted_quadratic<TypeParam>(15, 2, n));
}

TYPED_TEST(RecoverOver, FindsAMatrixFromTheFunctionsOfAUser) {
  this->expect_found(testing::planted_by(testing::make_user<TypeParam>(20, 9, false), 1));
}

TYPED_TEST(RecoverOver, FindsTheMatrixWithEveryMethod) {
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    RecoverOptions options;
    options.method = method.name;
    this->expect_found(method.symmetric ? this->symmetric() : this->rectangular(), options);
  }
}

TYPED_TEST(RecoverOver, FindsTheMatrixFromAGradientRun) {
  RecoverOptions options;
  options.start = Start::kDynamics;
  this->expect_found(this->rectangular(), options);
  this->expect_found(this->symmetric(), options);
}

TYPED_TEST(RecoverOver, HoldsOutWholeMeasurements) {
  const auto planted = this->rectangular();
  RecoverOptions options;
  options.holdout = 0.1;
  const auto found = recover(planted.problem, options);
  EXPECT_EQ(found.rank, 2);
  EXPECT_LE(planted.relative_error(found), kErrorLimit<TypeParam>);
  ASSERT_TRUE(found.holdout_rmse);
  // Entries of X have variance 2.
  EXPECT_LE(*found.holdout_rmse, 10 * kErrorLimit<TypeParam>);
}

TYPED_TEST(RecoverOver, GradientAloneLowersTheObjective) {
  RecoverOptions options;
  options.rank_walk = false;
  options.max_iterations = 300;
  options.record = Recording::kEvery;
  for (const auto& planted : {this->rectangular(), this->symmetric()}) {
    const auto found = recover(planted.problem, options);
    EXPECT_LE(found.relative_residual, 0.1);
    EXPECT_LT(found.history.back().objective, found.history.front().objective);
    EXPECT_GE(found.d.minCoeff(), 0);
  }
}

TYPED_TEST(RecoverOver, FiguresAreThoseOfTheFactors) {
  const auto planted = this->rectangular();
  const auto found = recover(planted.problem);
  const RowMatrix<TypeParam> X = testing::dense(found.U, found.d, found.V);
  const double eps = kEpsilon<TypeParam>;
  const double size = X.norm();
  const double residual = testing::residual_of(planted.problem, found).norm();
  EXPECT_NEAR(found.relative_residual * planted.problem.b.norm(), residual, 100 * eps * size);
  const Vector<double> s = testing::singular_values_of(X).head(found.spectrum.size());
  EXPECT_NEAR((found.spectrum - s).norm(), 0, 100 * eps * size);
  EXPECT_NEAR(std::abs(found.predict(3, 4) - X(3, 4)), 0, 10 * eps * size);
}

TYPED_TEST(RecoverOver, ResumesToTheSameBits) {
  const auto planted = this->rectangular();
  for (const bool polish : {true, false}) {
    RecoverOptions options;
    options.rank_walk = polish;
    options.max_iterations = polish ? 0 : 100;
    std::string saved;
    EXPECT_EQ(this->interrupted(planted.problem, options, 5, saved).stop_reason,
              StopReason::kInterrupted);
    EXPECT_EQ(to_bytes(solve_state_from_bytes<TypeParam>(saved)), saved);
    BasicHooks<TypeParam> hooks;
    hooks.resume = saved;
    expect_same_bits(recover(planted.problem, options, hooks), recover(planted.problem, options));
  }
}

TYPED_TEST(RecoverOver, RefusesCheckpointsOfOtherScalars) {
  using Other = std::conditional_t<std::is_same_v<TypeParam, float>, double, float>;
  const std::string bytes = to_bytes(SolveState<TypeParam>());
  EXPECT_THROW(solve_state_from_bytes<Other>(bytes), InvalidArgument);
}

TYPED_TEST(RecoverOver, BitsDoNotDependOnTheNumberOfThreads) {
  const auto planted = planted_places<TypeParam>(120, 100, false, 3, 4);
  const testing::ThreadCount one(1);
  const auto alone = recover(planted.problem);
  set_num_threads(3);
  expect_same_bits(recover(planted.problem), alone);
}

// b = w X w^* with complex w measures a Hermitian X: the answer is the only one.
TEST(RecoverOverComplex, IntensitiesOfARealMatrixGiveARealMatrix) {
  const auto vectors = testing::random_rows<std::complex<double>>(220, 15, 34);
  const RowMatrix<double> U = testing::random_rows(15, 2, 35);
  const RowMatrix<std::complex<double>> projected = vectors * U;
  const auto found =
      recover(quadratic_sensing<std::complex<double>>(vectors, projected.rowwise().squaredNorm()));
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.certificate.verdict, Optimality::kGlobal);
  const RowMatrix<std::complex<double>> X = testing::dense(found.U, found.d, found.U);
  const RowMatrix<double> expected = testing::product(U, U.transpose());
  EXPECT_LE((X - expected).norm(), 1e-8 * expected.norm());
}

}  // namespace recover_scalars_test
}  // namespace udv

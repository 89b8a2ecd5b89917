// SPDX-License-Identifier: MIT
#include "udv/recover/solver/certificate.hpp"

#include <gtest/gtest.h>

#include "support/every_scalar.hpp"
#include "support/operator_laws.hpp"
#include "support/planted_problems.hpp"
#include "support/reference.hpp"

namespace udv {
namespace certificate_test {

using testing::BasicPlanted;
using testing::kEps;
using testing::random_rows;

template <typename Scalar>
Factorization<Scalar> truth_of(const BasicPlanted<Scalar>& planted, double scale = 1) {
  const StackedFactors<Scalar> Z = planted.near(0);
  const auto& method = method_named(Z.symmetric ? "udu" : "udv");
  const auto weight = static_cast<RealOf<Scalar>>(scale);
  return Factorization<Scalar>(method, Z, Reals<Scalar>::Constant(Z.rank(), weight));
}

template <typename Scalar>
Certificate certificate_of(const BasicProblem<Scalar>& problem, const Factorization<Scalar>& x,
                           CertificateOptions options = {}) {
  return certify(*problem.op, problem.b, x, options);
}

/// A*(z) as a matrix.
template <typename Scalar>
Matrix<Scalar> adjoint_of(const BasicProblem<Scalar>& problem, const Reals<Scalar>& z) {
  return testing::adjoint_times(*problem.op, z, testing::identity<Scalar>(problem.op->cols()));
}

/// -lambda_min, or the largest singular value.
template <typename Scalar>
double steepest(const BasicProblem<Scalar>& problem, const Reals<Scalar>& z) {
  const Matrix<Scalar> G = adjoint_of(problem, z);
  return problem.op->symmetric() ? -testing::eigenvalues_of(G)(0)
                                 : testing::singular_values_of(G)(0);
}

/// A(X) - b
template <typename Scalar>
Reals<Scalar> residual_at(const BasicProblem<Scalar>& problem, const Factorization<Scalar>& x) {
  Reals<Scalar> y;
  x.measure(*problem.op, y);
  return y - problem.b;
}

/// All entries of a symmetric matrix.
Problem full_symmetric(const Matrix<double>& B) {
  Entries entries{B.rows(), B.rows(), true, {}, {}, {}};
  for (Index i = 0; i < B.rows(); ++i)
    for (Index j = i; j < B.rows(); ++j) {
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(static_cast<std::int32_t>(j));
      entries.value.push_back(B(i, j));
    }
  return completion(entries);
}

template <typename Scalar>
class CertificateOver : public ::testing::Test {
 protected:
  const std::vector<BasicPlanted<Scalar>> problems{
      testing::planted_places<Scalar>(30, 30, true, 3, 4),
      testing::planted_places<Scalar>(30, 25, false, 2, 4),
      testing::planted_quadratic<Scalar>(15, 2, 220)};
};
TYPED_TEST_SUITE(CertificateOver, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(CertificateOver, TheTruthIsGlobal) {
  CertificateOptions options;
  options.tolerance = 1000 * kEpsilon<TypeParam>;
  for (const auto& planted : this->problems) {
    const Certificate found = certificate_of(planted.problem, truth_of(planted), options);
    EXPECT_EQ(found.verdict, Optimality::kGlobal);
    EXPECT_LE(found.stationarity, options.tolerance);
    EXPECT_LE(found.dual_infeasibility, options.tolerance);
  }
}

TYPED_TEST(CertificateOver, APointThatIsNotStationaryIsNotConverged) {
  for (const auto& planted : this->problems)
    EXPECT_EQ(certificate_of(planted.problem, truth_of(planted, 0.9)).verdict,
              Optimality::kNotConverged);
}

TYPED_TEST(CertificateOver, FiguresAreThoseOfTheFormedGradient) {
  for (const auto& planted : this->problems) {
    const Factorization<TypeParam> x = truth_of(planted, 0.7);
    const Matrix<TypeParam> G = adjoint_of(planted.problem, residual_at(planted.problem, x));
    const double unit = steepest<TypeParam>(planted.problem, -planted.problem.b);
    double slope = 0, curvature = 0;
    for (Index c = 0; c < x.columns(); ++c) {
      const Vector<TypeParam> u = x.stack().U().col(c), v = x.stack().V().col(c);
      const bool one = x.stack().symmetric;
      const double change = std::hypot((G * v).norm(), one ? 0 : (G.adjoint() * u).norm());
      slope = std::max(slope, change / std::hypot(u.norm(), one ? 0 : v.norm()));
      curvature = std::max<double>(curvature, std::abs(std::real(u.dot(G * v))) / u.squaredNorm());
    }
    const Certificate found = certificate_of(planted.problem, x);
    // The unit comes from Lanczos, which stops at three digits.
    EXPECT_NEAR(found.stationarity, slope / unit, 2e-3 * found.stationarity);
    EXPECT_NEAR(found.complementarity, curvature / unit, 2e-3 * found.complementarity);
  }
}

TYPED_TEST(CertificateOver, DualInfeasibilityIsTheSteepestDirectionLeft) {
  for (const auto& planted : this->problems) {
    Factorization<TypeParam> x = truth_of(planted);
    x.remove({0});
    const double expected = steepest(planted.problem, residual_at(planted.problem, x)) /
                            steepest<TypeParam>(planted.problem, -planted.problem.b);
    EXPECT_NEAR(certificate_of(planted.problem, x).dual_infeasibility, expected, 5e-3 * expected);
  }
}

TEST(Certificate, OfNothingIsOneAsFarAsTheGradientAtZero) {
  const auto planted = testing::small_symmetric();
  StackedFactors<double> nothing(30, 30, true, 1);
  const Factorization<double> x(method_named("bm"), nothing, Vector<double>::Ones(1));
  const Certificate found = certificate_of(planted.problem, x);
  EXPECT_NEAR(found.dual_infeasibility, 1, 1e-12);
  EXPECT_EQ(found.verdict, Optimality::kStationary);
}

TEST(Certificate, OfABestFitOfTooLowARankIsStationary) {
  Matrix<double> B = Matrix<double>::Zero(6, 6);
  B.diagonal() << 5, 3, 2, 0, 0, 0;
  StackedFactors<double> Z(6, 6, true, 1);
  Z.Z(0, 0) = 1;
  const Factorization<double> x(method_named("udu"), Z, Vector<double>::Constant(1, 5));
  const Certificate found = certificate_of(full_symmetric(B), x);
  EXPECT_EQ(found.verdict, Optimality::kStationary);
  EXPECT_NEAR(found.dual_infeasibility, 3.0 / 5, 100 * kEps);
}

TEST(Certificate, SeesAWeakDirectionBesideStrongOnes) {
  // The gradient at the rank-1 fit has eigenvalues 0 .. 1 and a single -2e-5: X can be improved.
  Matrix<double> B = Matrix<double>::Zero(300, 300);
  B.diagonal() = -Vector<double>::LinSpaced(300, 0, 1);
  B(0, 0) = 1;
  B(1, 1) = 2e-5;
  StackedFactors<double> Z(300, 300, true, 1);
  Z.Z(0, 0) = 1;
  const Factorization<double> x(method_named("udu"), Z, Vector<double>::Ones(1));
  CertificateOptions options;
  options.tolerance = 1e-6;  // that of recover()
  const Certificate found = certificate_of(full_symmetric(B), x, options);
  EXPECT_EQ(to_string(found.verdict), "stationary");
  EXPECT_GE(found.dual_infeasibility, 1e-5);
}

TEST(Certificate, KnowsTheRidge) {
  // min 1/2 |X - B|^2 + mu tr X over X >= 0 shrinks each eigenvalue of B by mu: B itself is not
  // stationary, max(B - mu / 2, 0) is (f + mu / 2 |Z|_F^2 with X = Z Z^T).
  Matrix<double> B = Matrix<double>::Zero(6, 6);
  B.diagonal() << 5, 3, 0.1, 0, 0, 0;
  const double ridge = 0.4;
  StackedFactors<double> Z(6, 6, true, 2);
  Z.Z(0, 0) = Z.Z(1, 1) = 1;
  const Vector<double> shrunken = (Vector<double>(2) << 5 - 0.2, 3 - 0.2).finished();
  const Factorization<double> x(method_named("udu"), Z, shrunken);
  CertificateOptions options;
  options.ridge = ridge;
  EXPECT_EQ(certificate_of(full_symmetric(B), x, options).verdict, Optimality::kGlobal);
  EXPECT_EQ(certificate_of(full_symmetric(B), x).verdict, Optimality::kNotConverged);
}

TEST(Certificate, MeasuresTheMultiplierOfABindingBall) {
  // X = 2 e1 e1^T with |u| = 1 on the ball, B = 5 e1 e1^T: grad f u d = -3 * 2 u.
  Matrix<double> B = Matrix<double>::Zero(4, 4);
  B(0, 0) = 5;
  StackedFactors<double> Z(4, 4, true, 1);
  Z.Z(0, 0) = 1;
  const Factorization<double> x(method_named("udu"), Z, Vector<double>::Constant(1, 2));
  CertificateOptions options;
  options.alpha = 1;
  const Certificate found = certificate_of(full_symmetric(B), x, options);
  EXPECT_NEAR(found.ball_multiplier, 6.0 / 5, 100 * kEps);
  EXPECT_NEAR(found.ball_residual, 0, 100 * kEps);
  EXPECT_EQ(certificate_of(full_symmetric(B), x).ball_multiplier, 0);
}

TEST(Certificate, MeasuresTheCurvatureOfDeadColumns) {
  Matrix<double> B = Matrix<double>::Zero(4, 4);
  B(0, 0) = 5;
  B(1, 1) = 2;
  StackedFactors<double> Z(4, 4, true, 2);
  Z.Z(0, 0) = Z.Z(1, 1) = 1;
  const Factorization<double> x(method_named("udu"), Z, (Vector<double>(2) << 5, 0).finished());
  EXPECT_NEAR(certificate_of(full_symmetric(B), x).dead_curvature, 2.0 / 5, 100 * kEps);
}

TEST(Certificate, VerdictsHaveNames) {
  EXPECT_EQ(to_string(Optimality::kGlobal), "global");
  EXPECT_EQ(to_string(Optimality::kStationary), "stationary");
  EXPECT_EQ(to_string(Optimality::kNotConverged), "not converged");
}

}  // namespace certificate_test
}  // namespace udv

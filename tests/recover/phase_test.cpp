// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"

namespace udv {
namespace {

using Complex = std::complex<double>;
using testing::error_of;
using testing::ThreadCount;

template <typename Scalar>
struct Instance {
  Vector<Scalar> truth;
  RankOneOperator<Scalar> op;
  Reals<Scalar> b;
};

template <typename Scalar>
Instance<Scalar> planted(Index unknowns, Index measurements, std::uint64_t seed) {
  Random random(seed, testing::kTestStream);
  RowMatrix<Scalar> rows(measurements, unknowns);
  Vector<Scalar> truth(unknowns);
  random.fill_normal(rows);
  random.fill_normal(truth);
  const Reals<Scalar> b = (rows * truth).cwiseAbs2();
  return {truth, RankOneOperator<Scalar>(rows), b};
}

template <typename Scalar>
class PhaseOf : public ::testing::Test {};
using Scalars = ::testing::Types<double, Complex>;
TYPED_TEST_SUITE(PhaseOf, Scalars);

TYPED_TEST(PhaseOf, GaussianRowsIsExact) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto made = planted<TypeParam>(32, 32 * (kIsComplex<TypeParam> ? 5 : 4), seed);
    const auto found = retrieve_phase<TypeParam>(made.op, made.b);
    EXPECT_TRUE(found.solved);
    EXPECT_LE(phase_error<TypeParam>(found.x, made.truth), 1e-9);
  }
}

TYPED_TEST(PhaseOf, ScaledDataScalesWithThem) {
  const auto made = planted<TypeParam>(24, 120, 1);
  const auto found = retrieve_phase<TypeParam>(made.op, 1e12 * made.b);
  EXPECT_LE(phase_error<TypeParam>(found.x / 1e6, made.truth), 1e-9);
}

TYPED_TEST(PhaseOf, SameSeedSameBitsForAnyThreads) {
  const auto made = planted<TypeParam>(40, 240, 2);
  const auto run = [&](int threads) {
    const ThreadCount guard(threads);
    return retrieve_phase<TypeParam>(made.op, made.b).x;
  };
  EXPECT_EQ(run(1), run(2));
  EXPECT_EQ(run(1), run(3));
}

TYPED_TEST(PhaseOf, NoisyDataEndAtTheLeastSquaresFit) {
  auto made = planted<TypeParam>(32, 256, 3);
  Random random(9, testing::kTestStream);
  const double sigma = 0.01 * made.b.norm() / 16;
  for (auto& value : made.b) value = std::max(0.0, value + sigma * random.normal());
  const auto found = retrieve_phase<TypeParam>(made.op, made.b);
  EXPECT_FALSE(found.solved);
  EXPECT_LE(phase_error<TypeParam>(found.x, made.truth), 0.05);
  EXPECT_EQ(found.rank, 1);
  EXPECT_LE(found.certificate.stationarity, 1e-3);
}

TEST(Phase, InSinglePrecisionReachesItsPrecision) {
  const auto made = planted<std::complex<float>>(32, 192, 4);
  const auto found = retrieve_phase<std::complex<float>>(made.op, made.b);
  EXPECT_TRUE(found.solved);
  EXPECT_LE(phase_error<std::complex<float>>(found.x, made.truth), 1e-4);
}

TEST(Phase, OfCodedDiffractionIsExact) {
  Random random(5, testing::kTestStream);
  std::vector<RowMatrix<Complex>> masks;
  for (int l = 0; l < 8; ++l) {
    masks.emplace_back(16, 16);
    for (Index i = 0; i < 256; ++i)
      masks.back().data()[i] = std::polar(1.0, 6.2831853 * random.uniform());
  }
  const CodedDiffractionOperator<Complex> op(masks);
  RowMatrix<Complex> truth(256, 1), fields;
  random.fill_normal(truth);
  op.project(truth, fields);
  const auto found = retrieve_phase<Complex>(op, fields.col(0).cwiseAbs2());
  EXPECT_LE(phase_error<Complex>(found.x, truth.col(0)), 1e-9);
}

TEST(Phase, StopsWhenTheObserverSaysSo) {
  const auto made = planted<double>(32, 64, 6);
  for (const auto verdict : {Verdict::kInterrupt, Verdict::kTimeLimit}) {
    int calls = 0;
    Hooks hooks;
    hooks.observer = [&](const IterationRecord&) {
      return ++calls == 5 ? verdict : Verdict::kContinue;
    };
    const auto found = retrieve_phase<double>(made.op, made.b, {}, hooks);
    EXPECT_EQ(found.stop_reason, stop_reason(verdict, false));
    EXPECT_EQ(calls, 5);
  }
}

TEST(Phase, SaysWhatIsWrongWithItsOptions) {
  const auto made = planted<double>(8, 32, 7);
  const auto message_of = [&](PhaseOptions options) {
    return error_of([&] { retrieve_phase<double>(made.op, made.b, options); });
  };
  EXPECT_EQ(message_of({.method = "uv"}), "method 'uv' found, udu or bm expected");
  EXPECT_EQ(message_of({.size = 0}), "size = 0, a positive number expected");
  EXPECT_EQ(message_of({.max_iterations = 3}), "max_iterations = 3, at least 32 expected");
  EXPECT_EQ(message_of({.restarts = 0}), "restarts = 0, at least 1 expected");
  EXPECT_EQ(error_of([&] { retrieve_phase<double>(made.op, made.b.head(5)); }),
            "b has 5 values, 32 expected");
}

TEST(FixedPhase, MakesTheLargestEntryRealAndPositive) {
  const Vector<Complex> x =
      (Vector<Complex>(3) << Complex(1, 0), Complex(0, -4), Complex(2, 2)).finished();
  const Vector<Complex> fixed = with_fixed_phase<Complex>(x);
  EXPECT_EQ(fixed(1), Complex(4, 0));
  EXPECT_NEAR(phase_error<Complex>(fixed, x), 0, 1e-15);
  EXPECT_EQ(with_fixed_phase<double>(Vector<double>::Constant(2, -3)),
            Vector<double>::Constant(2, 3));
  EXPECT_TRUE(with_fixed_phase<Complex>(Vector<Complex>::Zero(2)).isZero(0));
}

TEST(PhaseError, IgnoresAGlobalPhaseAlone) {
  const Vector<Complex> x = Vector<Complex>::Constant(4, Complex(1, 2));
  EXPECT_NEAR(phase_error<Complex>(std::polar(1.0, 0.7) * x, x), 0, 1e-15);
  EXPECT_NEAR(phase_error<Complex>(2 * x, x), 1, 1e-15);
}

}  // namespace
}  // namespace udv

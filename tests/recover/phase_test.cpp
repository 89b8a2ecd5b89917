// SPDX-License-Identifier: MIT
#include "udv/recover/phase.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "recover/phase_constrained.hpp"
#include "recover/phase_messages.hpp"
#include "recover/phase_prior.hpp"
#include "support/random_data.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"

namespace udv {
namespace phase_test {

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
  const Reals<Scalar> b = testing::product(rows, truth).cwiseAbs2();
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

// Two and a half complex, or one and a half real measurements per unknown.
TYPED_TEST(PhaseOf, FewMeasurementsSuffice) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto made = planted<TypeParam>(96, kIsComplex<TypeParam> ? 240 : 144, seed);
    const auto found = retrieve_phase<TypeParam>(made.op, made.b);
    EXPECT_LE(phase_error<TypeParam>(found.x, made.truth), 1e-9) << seed;
    EXPECT_EQ(found.cut_iteration, 0);
  }
}

// Rows of unequal length, with a common part: far from independent entries of mean zero.
TYPED_TEST(PhaseOf, RowsThatHaveACommonPartAreNoObstacle) {
  Random random(8, testing::kTestStream);
  RowMatrix<TypeParam> rows(240, 48);
  Vector<TypeParam> truth(48);
  random.fill_normal(rows);
  random.fill_normal(truth);
  rows.array() += TypeParam(3);
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i) *= 0.1 + random.uniform();
  const auto found = retrieve_phase<TypeParam>(RankOneOperator<TypeParam>(rows),
                                               testing::product(rows, truth).cwiseAbs2());
  EXPECT_LE(phase_error<TypeParam>(found.x, truth), 1e-9);
}

TYPED_TEST(PhaseOf, MuchNoiseConvergesAndIsNamed) {
  auto made = planted<TypeParam>(32, 256, 5);
  Random random(10, testing::kTestStream);
  const double sigma = 0.1 * made.b.norm() / 16;
  for (auto& value : made.b) value = std::max(0.0, value + sigma * random.normal());
  const auto found = retrieve_phase<TypeParam>(made.op, made.b);
  EXPECT_TRUE(found.converged);
  EXPECT_TRUE(found.repeated);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_NEAR(found.noise_sigma / sigma, 1, 0.3);
}

// Nothing fits numbers that no x has to do with.
TYPED_TEST(PhaseOf, NoiseAloneDoesNotConverge) {
  const auto made = planted<TypeParam>(24, 96, 6);
  Random random(11, testing::kTestStream);
  Reals<TypeParam> b(96);
  for (auto& value : b) value = random.uniform();
  const auto found = retrieve_phase<TypeParam>(made.op, b, {.max_iterations = 64, .restarts = 2});
  EXPECT_FALSE(found.solved);
  EXPECT_TRUE(found.x.allFinite());
  EXPECT_TRUE(found.spectrum.allFinite());
}

TYPED_TEST(PhaseOf, KnownSupportReplacesMeasurements) {
  auto made = planted<TypeParam>(64, 80, 7);
  PhaseOptions options;
  options.prior.support.assign(64, false);
  for (size_t j = 0; j < 64; j += 4) options.prior.support[j] = true;
  for (Index j = 0; j < 64; ++j)
    if (j % 4 != 0) made.truth(j) = 0;
  RowMatrix<TypeParam> fields;
  made.op.project(RowMatrix<TypeParam>(made.truth), fields);
  const auto found = retrieve_phase<TypeParam>(made.op, fields.col(0).cwiseAbs2(), options);
  EXPECT_LE(phase_error<TypeParam>(found.x, made.truth), 1e-9);
  EXPECT_EQ(found.U.rows(), 64);
  EXPECT_EQ(found.rows, 64);
  EXPECT_EQ(found.x(1), TypeParam(0));
}

TYPED_TEST(PhaseOf, FewEntriesNeedFewMeasurements) {
  auto made = planted<TypeParam>(128, 192, 8);
  for (Index j = 0; j < 128; ++j)
    if (j % 8 != 3) made.truth(j) = 0;
  RowMatrix<TypeParam> fields;
  made.op.project(RowMatrix<TypeParam>(made.truth), fields);
  PhaseOptions options;
  options.prior.sparse = true;
  const auto found = retrieve_phase<TypeParam>(made.op, fields.col(0).cwiseAbs2(), options);
  EXPECT_LE(phase_error<TypeParam>(found.x, made.truth), 1e-9);
  EXPECT_NE(found.determinacy.unique, true);  // whether other entries would do is not known
}

TYPED_TEST(PhaseOf, NonnegativeEntriesNeedFewMeasurements) {
  auto made = planted<TypeParam>(128, 192, 9);
  for (Index j = 0; j < 128; ++j)
    made.truth(j) = j % 3 == 0 ? TypeParam(0) : TypeParam(std::abs(made.truth(j)));
  RowMatrix<TypeParam> fields;
  made.op.project(RowMatrix<TypeParam>(made.truth), fields);
  PhaseOptions options;
  options.prior.nonnegative = true;
  const auto found = retrieve_phase<TypeParam>(made.op, fields.col(0).cwiseAbs2(), options);
  EXPECT_LE((found.x - made.truth).norm() / made.truth.norm(), 1e-9);
}

TEST(Phase, OfThreeMasksIsExact) {
  Random random(12, testing::kTestStream);
  std::vector<RowMatrix<Complex>> masks;
  for (int l = 0; l < 3; ++l) {
    masks.emplace_back(32, 32);
    for (Index i = 0; i < 1024; ++i)
      masks.back().data()[i] = std::polar(1.0, 6.2831853 * random.uniform());
  }
  const CodedDiffractionOperator<Complex> op(masks);
  RowMatrix<Complex> truth(1024, 1), fields;
  random.fill_normal(truth);
  op.project(truth, fields);
  const auto found = retrieve_phase<Complex>(op, fields.col(0).cwiseAbs2());
  EXPECT_LE(phase_error<Complex>(found.x, truth.col(0)), 1e-9);
}

// Blocks of different brightness on a dark field of 2 x 2 times the size.
struct Diffraction {
  static constexpr Index kSide = 24, kGrid = 48;
  CodedDiffractionOperator<Complex> op{
      {RowMatrix<std::complex<double>>::Constant(kGrid, kGrid, 1.0)}};
  Vector<Complex> truth = Vector<Complex>::Zero(kGrid * kGrid);
  Vector<double> b;
  PhaseOptions options;

  explicit Diffraction(std::uint64_t seed) {
    Random random(seed, testing::kTestStream);
    options.prior.support.assign(static_cast<size_t>(kGrid * kGrid), false);
    for (Index r = 0; r < kSide; ++r)
      for (Index c = 0; c < kSide; ++c)
        options.prior.support[static_cast<size_t>(r * kGrid + c)] = true;
    for (int block = 0; block < 12; ++block) {
      const Index top = random.below(kSide - 3), left = random.below(kSide - 3);
      const double light = random.uniform();
      for (Index r = top; r < std::min(kSide, top + 3 + random.below(8)); ++r)
        for (Index c = left; c < std::min(kSide, left + 6); ++c) truth(r * kGrid + c) += light;
    }
    RowMatrix<Complex> fields;
    op.project(RowMatrix<Complex>(truth), fields);
    b = fields.col(0).cwiseAbs2();
    options.prior.nonnegative = true;
  }
};

TEST(Phase, OfOneDiffractionPatternIsExactUpToCopies) {
  const Diffraction made(1);
  const auto found = retrieve_phase<Complex>(made.op, made.b, made.options);
  EXPECT_LE(pattern_error<Complex>(found.x, made.truth, made.kGrid, made.kGrid), 1e-6);
  EXPECT_GE(found.x.real().minCoeff(), 0);
  EXPECT_EQ(found.x.imag().cwiseAbs().maxCoeff(), 0);
  EXPECT_TRUE(found.inversion_fits);
  EXPECT_FALSE(found.certified());
}

TEST(PatternError, SeesThroughMovedAndInvertedCopies) {
  Random random(13, testing::kTestStream);
  Vector<Complex> x(6 * 8), other(6 * 8);
  random.fill_normal(x);
  for (Index r = 0; r < 6; ++r)
    for (Index c = 0; c < 8; ++c)
      other((11 - r) % 6 * 8 + (10 - c) % 8) = Complex(0, 1) * std::conj(x(r * 8 + c));
  EXPECT_LE(pattern_error<Complex>(other, x, 6, 8), 1e-12);
  EXPECT_GE(phase_error<Complex>(other, x), 0.5);
}

TEST(PatternAmbiguity, CountsCopiesWithinTheSupport) {
  const std::vector<bool> corner{true, true, false, true, false, false, false, false, false};
  std::vector<bool> box{true, true, false, true, true, false, false, false, false};
  EXPECT_FALSE(pattern_ambiguity(corner, corner, 3, 3).inversion);
  EXPECT_TRUE(pattern_ambiguity(box, corner, 3, 3).inversion);
  EXPECT_EQ(pattern_ambiguity(box, corner, 3, 3).shifts, 0);
  EXPECT_EQ(pattern_ambiguity(std::vector<bool>(9, true), corner, 3, 3).shifts, 8);
}

TEST(BesselRatio, AgreesWithTheStandardLibrary) {
  for (const double k : {0.0, 0.1, 1.0, 3.74, 3.76, 10.0, 49.0, 51.0, 200.0})
    EXPECT_NEAR(bessel_ratio(k), std::cyl_bessel_i(1, k) / std::cyl_bessel_i(0, k), 1e-6) << k;
  EXPECT_EQ(bessel_ratio(1e300), 1);
}

TEST(LogNormalBelow, IsContinuousAndHasItsSlope) {
  for (const double a : {-30.0, -5.001, -4.999, -1.0, 0.0, 3.0, 40.0}) {
    const double h = 1e-4;
    const double slope = (log_normal_below(a + h).value - log_normal_below(a - h).value) / (2 * h);
    EXPECT_NEAR(log_normal_below(a).slope, slope, 2e-3 * (1 + slope)) << a;
  }
}

TEST(Phase, RefusesASupportThatDoesNotFit) {
  const auto made = planted<double>(8, 32, 7);
  PhaseOptions options;
  options.prior.support.assign(5, true);
  EXPECT_EQ(error_of([&] { retrieve_phase<double>(made.op, made.b, options); }),
            "support has 5 entries, 8 expected");
  options.prior.support.assign(8, false);
  EXPECT_EQ(error_of([&] { retrieve_phase<double>(made.op, made.b, options); }),
            "support: no entry may differ from zero");
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
  EXPECT_EQ(message_of({.method = "uv"}), "method 'uv' found, auto, udu or bm expected");
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

}  // namespace phase_test
}  // namespace udv

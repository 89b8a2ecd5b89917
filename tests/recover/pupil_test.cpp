// SPDX-License-Identifier: MIT
// Pupils of images whose LEDs stand between samples, and the fit of their phases.
#include <gtest/gtest.h>

#include <cmath>

#include "recover/solver/pupil_fit.hpp"
#include "recover/solver/pupil_smoothness.hpp"
#include "support/microscope.hpp"
#include "support/random_data.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace pupil_test {

using Complex = std::complex<double>;
using testing::error_of;
using testing::kHigh;
using testing::kLow;

RowMatrix<Complex> random_field(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, testing::kTestStream);
  RowMatrix<Complex> field(rows, cols);
  random.fill_normal(field);
  return field;
}

// Phases that rise by `step` from sample to sample, moduli that do not.
RowMatrix<Complex> tilted(Index rows, Index cols, double step) {
  RowMatrix<Complex> pupil(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      pupil(r, c) = std::polar(1 + 0.1 * double(c), step * double(r) - 2 * step * double(c));
  return pupil;
}

const std::vector<SampleShift> kShifts{{0.3, -0.4}, {-0.5, 0.25}, {0, 0.5}};

PtychographyOperator<Complex> small_operator() {
  ImagePupils own{{}, kShifts};
  for (const std::uint64_t l : {0, 1, 2})
    own.supports.push_back(random_field(6, 7, 10 + l).cwiseAbs().cast<float>());
  return {11, 12, {{0, 0}, {2, 4}, {5, 3}}, random_field(6, 7, 13), own};
}

Vector<Complex> fields_of(const IntensityOperator<Complex>& op, const RowMatrix<Complex>& x) {
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(Eigen::Map<const RowMatrix<Complex>>(x.data(), x.size(), 1)),
             fields);
  return fields.col(0);
}

RowMatrix<Complex> pulled_back(const IntensityOperator<Complex>& op, const Vector<Complex>& f) {
  RowMatrix<Complex> back(op.rows(), 1);
  op.back_project(RowMatrix<Complex>(f), back);
  return back;
}

TEST(PupilBetweenSamples, HasThePhaseOfWhereTheLedStands) {
  const double step = 0.1;
  const RowMatrix<Complex> P = tilted(6, 7, step);
  const PtychographyOperator<Complex> op(11, 12, {{0, 0}, {2, 4}, {5, 3}}, P, {{}, kShifts});
  for (size_t l = 0; l < kShifts.size(); ++l) {
    const RowMatrix<Complex> own = op.pupil_of(Index(l));
    const double turn = -step * kShifts[l].down + 2 * step * kShifts[l].right;
    for (Index r = 1; r < 5; ++r)
      for (Index c = 1; c < 6; ++c) {
        EXPECT_NEAR(std::abs(own(r, c)), std::abs(P(r, c)), 1e-12);
        // A chord of the circle instead of the arc, and moduli that are not equal.
        EXPECT_NEAR(std::arg(own(r, c) / P(r, c)), turn, step * 0.05);
      }
  }
}

TEST(PupilBetweenSamples, IsThePupilWhereTheLedStandsOnASample) {
  const RowMatrix<Complex> P = random_field(6, 7, 3);
  const PtychographyOperator<Complex> op(9, 9, {{1, 2}}, P, {{}, {{0, 0}}});
  EXPECT_NEAR((op.pupil_of(0) - P).norm(), 0, 1e-13);
}

TEST(PupilBetweenSamples, RefusesShiftsOfASampleAndMore) {
  EXPECT_EQ(error_of([] {
              PtychographyOperator<Complex>(9, 9, {{1, 2}}, random_field(6, 7, 3), {{}, {{0, 1}}});
            }),
            "imaging: a pupil moved by (0, 1) samples, less than 1 expected");
}

TEST(PupilBetweenSamples, AFactorOfOneGivesTheImagesOfTheSample) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  ASSERT_EQ(pupil.rows(), 8 * 9);
  const Vector<Complex> expected = fields_of(op, x);
  EXPECT_NEAR((fields_of(pupil, RowMatrix<Complex>::Ones(8, 9)) - expected).norm(), 0,
              1e-13 * expected.norm());
}

// psi is linear in the factor q: a tilt of q turns an image by the same number and moves it.
TEST(PupilBetweenSamples, AFactorIsInterpolatedAtThePlaceOfTheLed) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  RowMatrix<Complex> q(8, 9);
  for (Index r = 0; r < 8; ++r)
    for (Index c = 0; c < 9; ++c) q(r, c) = Complex(2.0 * double(r) - 7, 3 - double(c));
  const Vector<Complex> psi = fields_of(pupil, q);
  for (Index l = 0; l < 3; ++l) {  // q(k - shift) written out; windows begin at (1, 1) of q
    RowMatrix<Complex> moved(8, 9);
    for (Index r = 0; r < 8; ++r)
      for (Index c = 0; c < 9; ++c)
        moved(r, c) = q(r, c) + Complex(-2 * kShifts[size_t(l)].down, kShifts[size_t(l)].right);
    const PtychographyOperator<Complex> still(
        8, 9, {{1, 1}},
        op.pupil_of(l).cwiseProduct(
            x.block(op.windows()[size_t(l)].row, op.windows()[size_t(l)].col, 6, 7)));
    EXPECT_NEAR((fields_of(still, moved) - psi.segment(l * 42, 42)).norm(), 0, 1e-12 * psi.norm());
  }
}

TEST(PupilBetweenSamples, BackProjectionIsTheAdjoint) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5), q = random_field(8, 9, 6);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  const RowMatrix<Complex> f = random_field(pupil.num_measurements(), 1, 7);
  const Vector<Complex> psi = fields_of(pupil, q);
  const Complex left = psi.dot(f.col(0));
  const RowMatrix<Complex> back = pulled_back(pupil, f.col(0));
  const Complex right = Eigen::Map<const Vector<Complex>>(q.data(), q.size()).dot(back.col(0));
  EXPECT_NEAR(std::abs(left - right), 0, 1e-12 * psi.norm() * f.norm());
}

TEST(PupilBetweenSamples, TheDiagonalIsThatOfTheNormalEquations) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  Vector<double> w(pupil.num_measurements());
  for (Index i = 0; i < w.size(); ++i) w(i) = 1 + double(i / 42);
  const Vector<double> diagonal = pupil.diagonal(w);
  for (Index k = 0; k < pupil.rows(); ++k) {
    RowMatrix<Complex> unit = RowMatrix<Complex>::Zero(8, 9);
    unit.data()[k] = 1;
    const double square = w.dot(fields_of(pupil, unit).cwiseAbs2());
    EXPECT_NEAR(diagonal(k), square, 1e-12 * diagonal.maxCoeff());
  }
  EXPECT_FALSE(pupil.has_diagonal_gram());
}

// f(theta) = 1/2 sum (|W exp(i theta)| - a)^2 and Re(conj(i q) o W^* ((1 - a / |psi|) o psi)).
TEST(PupilBetweenSamples, TheGradientInThePhasesAgreesWithDifferences) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5), turn = random_field(72, 2, 8);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  const Vector<double> a = random_field(pupil.num_measurements(), 1, 9).cwiseAbs();
  const Vector<double> theta = turn.col(0).real(), step = turn.col(1).real();
  const auto factor = [&](double h) {
    RowMatrix<Complex> q(72, 1);
    for (Index k = 0; k < 72; ++k) q(k, 0) = std::polar(1.0, theta(k) + h * step(k));
    return q;
  };
  const auto objective = [&](double h) {
    return 0.5 * (fields_of(pupil, factor(h)).cwiseAbs() - a).squaredNorm();
  };
  const RowMatrix<Complex> q = factor(0);
  Vector<Complex> psi = fields_of(pupil, q);
  for (Index i = 0; i < psi.size(); ++i) psi(i) *= 1 - a(i) / std::abs(psi(i));
  const RowMatrix<Complex> back = pulled_back(pupil, psi);
  double slope = 0;
  for (Index k = 0; k < 72; ++k)
    slope += step(k) * std::real(std::conj(Complex(0, 1) * q(k, 0)) * back(k, 0));
  const double h = 1e-6, difference = (objective(h) - objective(-h)) / (2 * h);
  EXPECT_NEAR(difference, slope, 1e-6 * std::abs(slope) + 1e-7);
}

TEST(PupilBetweenSamples, AnyThreadsGiveTheSameBits) {
  const auto op = small_operator();
  const RowMatrix<Complex> x = random_field(11, 12, 5);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  const RowMatrix<Complex> f = random_field(pupil.num_measurements(), 1, 7);
  const int before = num_threads();
  set_num_threads(1);
  const RowMatrix<Complex> one = pulled_back(pupil, f.col(0));
  set_num_threads(3);
  EXPECT_EQ(pulled_back(pupil, f.col(0)), one);
  set_num_threads(before);
}

// Images with LEDs between samples: the fit finds the phases of the pupil, to a constant and a
// slope that move the sample.
TEST(PupilBetweenSamples, ItsPhasesAreFound) {
  using Single = std::complex<float>;
  ImagePupils own;
  for (Index l = 0; l < 49; ++l)
    own.shifts.push_back({0.12 * double(l % 7) - 0.36, 0.12 * double(l / 7) - 0.36});
  const auto bent = testing::disc(9, 1.5);
  const PtychographyOperator<Single> truth(kHigh, kHigh, testing::grid(), bent, own);
  const auto x = testing::sample(truth);
  const ImageTargets targets{testing::amplitudes_of(truth, x),
                             Vector<float>::Ones(truth.num_measurements()),
                             Vector<float>::Zero(49),
                             std::vector<bool>(49, false),
                             {},
                             {}};
  auto pupil = testing::disc(9);
  for (int round = 0; round < 4; ++round)
    pupil = refined_pupil(*truth.with_pupil(pupil), x, targets, false);
  Complex common = (bent.conjugate().cwiseProduct(pupil)).sum();
  common /= std::abs(common);
  EXPECT_LE((pupil - common * bent).norm(), 0.05 * bent.norm());
  // With an operator that leaves the phases where they are, the same images are not explained.
  ImagePupils on_samples;
  const PtychographyOperator<Single> rounded(kHigh, kHigh, testing::grid(), pupil, on_samples);
  const auto misfit = [&](const PtychographyOperator<Single>& op) {
    return (testing::amplitudes_of(op, x) - targets.amplitudes).norm();
  };
  EXPECT_LE(misfit(*truth.with_pupil(pupil)), 0.2f * misfit(rounded));
}

// Phases of degree 2, more than 2 pi in all.
TEST(PupilSmoothness, LeavesBendsAlone) {
  RowMatrix<Complex> pupil = RowMatrix<Complex>::Zero(9, 8);
  for (Index r = 1; r < 8; ++r)
    for (Index c = 0; c < 8; ++c)
      pupil(r, c) = std::polar(2.0, 0.3 * double(r * r) - 0.2 * double(r * c) + 0.1 * double(c));
  const PupilSmoothness smoothness(pupil, 4);
  EXPECT_FALSE(smoothness.empty());
  EXPECT_LE(smoothness.residuals(RowMatrix<float>::Zero(56, 1)).norm(), 1e-5);
  EXPECT_TRUE(PupilSmoothness(pupil, 0).empty());
}

TEST(PupilSmoothness, GradientProductAndDiagonalBelongToItsResiduals) {
  const PupilSmoothness smoothness(random_field(5, 6, 2), 0.7);
  const RowMatrix<float> c = random_field(30, 1, 3).real().cast<float>();
  const RowMatrix<float> p = random_field(30, 1, 4).real().cast<float>();
  const Vector<float> at = smoothness.residuals(c), change = smoothness.residuals(c + p) - at;
  RowMatrix<float> G = RowMatrix<float>::Zero(30, 1), Y = G;
  smoothness.add_gradient(c, G);
  smoothness.add_product(p, Y);
  const float size = 1e-5f * at.norm() * change.norm();
  EXPECT_NEAR(G.col(0).dot(p.col(0)), at.dot(change), size);
  EXPECT_NEAR(Y.col(0).dot(p.col(0)), change.squaredNorm(), 10 * size);
  const Vector<float> diagonal = smoothness.diagonal(30), zero = smoothness.residuals(0 * c);
  for (Index k = 0; k < 30; ++k) {
    RowMatrix<float> unit = RowMatrix<float>::Zero(30, 1);
    unit(k, 0) = 1;
    EXPECT_NEAR((smoothness.residuals(unit) - zero).squaredNorm(), diagonal(k),
                1e-4f * diagonal.maxCoeff());
  }
}

}  // namespace pupil_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/microscope.hpp"
#include "support/random_data.hpp"
#include "udv/recover/phase.hpp"
#include "udv/recover/ptychography_data.hpp"

namespace udv {
namespace ptychography_test {

using Complex = std::complex<float>;
using testing::amplitudes_of;
using testing::disc;
using testing::error_of;
using testing::grid;
using testing::kHigh;
using testing::kLow;
using testing::Scene;
using testing::ThreadCount;

TEST(Ptycho, RecoversAKnownSample) {
  const Scene scene;
  PtychographyOptions options;
  options.refine_pupil = PupilRefinement::kOff;
  options.dark_gain = false;
  const auto found = recover_image(scene.images(), options);
  EXPECT_LE(found.amplitude_residual, 2e-3);
  // What no LED shows cannot be known: compare what is seen.
  const Vector<float> light = scene.op.diagonal(Vector<float>::Ones(scene.amplitudes.size()));
  const Vector<Complex> seen =
      (light.array() > 0).select(scene.truth, Vector<Complex>::Zero(kHigh * kHigh));
  const Vector<Complex> got =
      (light.array() > 0).select(found.x, Vector<Complex>::Zero(kHigh * kHigh));
  EXPECT_LE(phase_error<Complex>(got, seen), 1e-2);
  EXPECT_EQ(found.candidates.size(), 3u);
  EXPECT_EQ(found.candidates[0].name, "flat");
}

TEST(Ptycho, PredictsImagesThatItHasNotSeen) {
  const Scene scene;
  const auto held = choose_held_out(scene.op, 5, 3);
  std::vector<Index> used;
  for (Index l = 0; l < scene.op.images(); ++l)
    if (std::find(held.begin(), held.end(), l) == held.end()) used.push_back(l);
  const auto part = [&](const std::vector<Index>& which) {
    PtychographyImages images{scene.op.with_images(which),
                              nullptr,
                              Vector<float>(Index(which.size()) * kLow * kLow),
                              {},
                              {}};
    for (size_t i = 0; i < which.size(); ++i) {
      images.amplitudes.segment(Index(i) * kLow * kLow, kLow * kLow) =
          scene.amplitudes.segment(which[i] * kLow * kLow, kLow * kLow);
      images.dark.push_back(scene.dark[size_t(which[i])]);
    }
    return images;
  };
  const auto found = recover_image(part(used));
  const HeldOutResidual residual = held_out_residual(part(held), found);
  EXPECT_LE(residual.predicted, 0.02);
  EXPECT_LE(residual.scaled, residual.predicted);
  EXPECT_NEAR(found.dark_gain, 1, 0.02);
}

TEST(Ptycho, FindsThePhaseOfThePupil) {
  const Scene scene;
  const PtychographyOperator<Complex> bent(kHigh, kHigh, grid(), disc(9, 0.8));
  PtychographyImages images = scene.images();
  images.amplitudes = amplitudes_of(bent, scene.truth);
  for (const auto kind : {PupilRefinement::kPhase, PupilRefinement::kPolynomial}) {
    PtychographyOptions options;
    options.dark_gain = false;
    options.refine_pupil = PupilRefinement::kOff;
    const double without = recover_image(images, options).amplitude_residual;
    options.refine_pupil = kind;
    const auto found = recover_image(images, options);
    EXPECT_LE(found.amplitude_residual, 0.5 * without);
    EXPECT_NEAR((found.pupil.cwiseAbs() - scene.op.pupil().cwiseAbs()).norm(), 0, 1e-5);
  }
}

TEST(Ptycho, FindsTheGainOfDarkImages) {
  for (const float gain : {0.3f, 0.5f, 2.2f}) {
    Scene scene;
    for (Index l = 0; l < scene.op.images(); ++l)
      if (scene.dark[size_t(l)]) scene.amplitudes.segment(l * kLow * kLow, kLow * kLow) *= gain;
    const auto found = recover_image(scene.images());
    EXPECT_NEAR(found.dark_gain / gain, 1, 0.2);
  }
}

TEST(Ptycho, FindsBackgroundsOfDarkImages) {
  Scene scene;
  const float bright = scene.amplitudes.maxCoeff();
  const float background = 0.01f * bright * bright;
  for (Index l = 0; l < scene.op.images(); ++l)
    if (scene.dark[size_t(l)]) {
      auto image = scene.amplitudes.segment(l * kLow * kLow, kLow * kLow);
      image = (image.cwiseAbs2().array() + background).sqrt();
    }
  const auto found = recover_image(scene.images(), {.dark_gain = false, .led_gains = false});
  EXPECT_LE(found.amplitude_residual, 0.02);
  for (Index l = 0; l < scene.op.images(); ++l)
    EXPECT_NEAR(found.backgrounds(l), scene.dark[size_t(l)] ? background : 0, 0.3 * background);
}

TEST(Ptycho, SameSeedSameBitsForAnyThreads) {
  const Scene scene;
  const auto run = [&](int threads) {
    const ThreadCount guard(threads);
    return recover_image(scene.images()).x;
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(Ptycho, SaysWhatIsWrongWithItsOptions) {
  const Scene scene(1);
  const auto message_of = [&](const PtychographyOptions& options) {
    return error_of([&] { recover_image(scene.images(), options); });
  };
  EXPECT_EQ(message_of({.pupil_rounds = -1}), "pupil_rounds = -1, 0 or more expected");
  EXPECT_EQ(message_of({.columns = 0}), "columns = 0, at least 1 expected");
  EXPECT_EQ(message_of({.dynamics_steps = 0}), "dynamics_steps = 0, at least 1 expected");
  PtychographyImages cut = scene.images();
  cut.amplitudes.conservativeResize(7);
  EXPECT_EQ(error_of([&] { recover_image(cut); }), "ptychography: 7 amplitudes, 5184 expected");
}

TEST(Ptycho, AnswersWithARecovery) {
  const Scene scene(1);
  const auto found = recover_image(scene.images(), {.led_gains = false});
  EXPECT_EQ(found.method, "udu");
  EXPECT_EQ(found.operator_name, "ptychography");
  EXPECT_EQ(found.rank, 1);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.stop_reason, StopReason::kConverged);
  EXPECT_EQ(found.history.back().iteration, found.iterations);
  const auto op = scene.op.with_pupil(found.pupil);
  const auto answer = rank_one_recovery<Complex>(*op, scene.amplitudes.cwiseAbs2(), found.x);
  EXPECT_EQ(found.U, answer.U);
  EXPECT_EQ(found.relative_residual, answer.relative_residual);
  EXPECT_EQ(found.certificate.stationarity, answer.certificate.stationarity);
}

TEST(Ptycho, ImageHasAFixedPhase) {
  const Scene scene(1);
  const RowMatrix<Complex> image = sample_image(scene.op, scene.truth);
  EXPECT_EQ(image.rows(), kHigh);
  EXPECT_EQ(image, sample_image(scene.op, -scene.truth));
}

}  // namespace ptychography_test
}  // namespace udv

// SPDX-License-Identifier: MIT
// A made-up microscope whose sample is known.
#include "udv/recover/ptychography.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"
#include "udv/recover/phase.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using testing::error_of;
using testing::ThreadCount;

constexpr Index kLow = 24, kHigh = 48;

RowMatrix<std::complex<double>> disc(double radius, double bend = 0) {
  RowMatrix<std::complex<double>> pupil = RowMatrix<std::complex<double>>::Zero(kLow, kLow);
  for (Index r = 0; r < kLow; ++r)
    for (Index c = 0; c < kLow; ++c) {
      const double square = std::pow(double(r - kLow / 2), 2) + std::pow(double(c - kLow / 2), 2);
      if (square <= radius * radius)
        pupil(r, c) = std::polar(1.0, bend * square / (radius * radius));
    }
  return pupil;
}

// LEDs on a grid of 7 x 7, 4 samples apart.
std::vector<Window> grid() {
  std::vector<Window> windows;
  for (Index y = -3; y <= 3; ++y)
    for (Index x = -3; x <= 3; ++x)
      windows.push_back({(kHigh - kLow) / 2 + 4 * y, (kHigh - kLow) / 2 + 4 * x});
  return windows;
}

std::vector<bool> dark_of(const std::vector<Window>& windows, double radius) {
  std::vector<bool> dark;
  for (const Window& w : windows)
    dark.push_back(std::hypot(double(w.row - (kHigh - kLow) / 2),
                              double(w.col - (kHigh - kLow) / 2)) > radius);
  return dark;
}

Vector<Complex> sample(const PtychographyOperator<Complex>& op) {
  Vector<Complex> image(kHigh * kHigh);
  for (Index r = 0; r < kHigh; ++r)
    for (Index c = 0; c < kHigh; ++c) {
      const double cell = std::exp(-(std::pow(r - 20.0, 2) + std::pow(c - 30.0, 2)) / 60.0);
      const double edge = r > 28 && r < 40 && c > 8 && c < 20 ? 0.4 : 0.0;
      image(r * kHigh + c) = std::polar(float(1 - 0.5 * cell - edge), float(0.8 * cell));
    }
  return op.from_image(image);
}

Vector<float> amplitudes_of(const PtychographyOperator<Complex>& op, const Vector<Complex>& x) {
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(x), fields);
  return fields.col(0).cwiseAbs();
}

struct Scene {
  PtychographyOperator<Complex> op{kHigh, kHigh, grid(), disc(9)};
  std::vector<bool> dark = dark_of(grid(), 9);
  Vector<Complex> truth = sample(op);
  Vector<float> amplitudes = amplitudes_of(op, truth);
};

TEST(Ptycho, RecoversAKnownSample) {
  const Scene scene;
  PtychographyOptions options;
  options.refine_pupil = PupilRefinement::kOff;
  options.dark_gain = false;
  const auto found = recover_image(scene.op, scene.amplitudes, scene.dark, options);
  EXPECT_LE(found.residual, 2e-3);
  // What no LED shows cannot be known: compare what is seen.
  const Vector<float> light = scene.op.diagonal(Vector<float>::Ones(scene.amplitudes.size()));
  const Vector<Complex> seen =
      (light.array() > 0).select(scene.truth, Vector<Complex>::Zero(kHigh * kHigh));
  const Vector<Complex> got =
      (light.array() > 0).select(found.spectrum, Vector<Complex>::Zero(kHigh * kHigh));
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
    Vector<float> amplitudes(Index(which.size()) * kLow * kLow);
    std::vector<bool> dark;
    for (size_t i = 0; i < which.size(); ++i) {
      amplitudes.segment(Index(i) * kLow * kLow, kLow * kLow) =
          scene.amplitudes.segment(which[i] * kLow * kLow, kLow * kLow);
      dark.push_back(scene.dark[size_t(which[i])]);
    }
    return std::pair(amplitudes, dark);
  };
  const auto [seen, seen_dark] = part(used);
  const auto [hidden, hidden_dark] = part(held);
  const auto found = recover_image(*scene.op.with_images(used), seen, seen_dark);
  const auto op = scene.op.with_images(held)->with_pupil(found.pupil);
  EXPECT_LE(amplitude_residual(*op, hidden, hidden_dark, found.dark_gain, found.spectrum), 0.02);
  EXPECT_NEAR(found.dark_gain, 1, 0.02);
}

TEST(Ptycho, FindsThePhaseOfThePupil) {
  const Scene scene;
  const PtychographyOperator<Complex> bent(kHigh, kHigh, grid(), disc(9, 0.8));
  const Vector<float> amplitudes = amplitudes_of(bent, scene.truth);
  for (const auto kind : {PupilRefinement::kPhase, PupilRefinement::kPolynomial}) {
    PtychographyOptions options;
    options.dark_gain = false;
    options.refine_pupil = PupilRefinement::kOff;
    const double without = recover_image(scene.op, amplitudes, scene.dark, options).residual;
    options.refine_pupil = kind;
    const auto found = recover_image(scene.op, amplitudes, scene.dark, options);
    EXPECT_LE(found.residual, 0.5 * without);
    EXPECT_NEAR((found.pupil.cwiseAbs() - scene.op.pupil().cwiseAbs()).norm(), 0, 1e-5);
  }
}

TEST(Ptycho, FindsTheGainOfDarkImages) {
  Scene scene;
  for (Index l = 0; l < scene.op.images(); ++l)
    if (scene.dark[size_t(l)]) scene.amplitudes.segment(l * kLow * kLow, kLow * kLow) *= 0.5f;
  const auto found = recover_image(scene.op, scene.amplitudes, scene.dark);
  EXPECT_NEAR(found.dark_gain, 0.5, 0.1);
}

TEST(Ptycho, SameSeedSameBitsForAnyThreads) {
  const Scene scene;
  const auto run = [&](int threads) {
    const ThreadCount guard(threads);
    return recover_image(scene.op, scene.amplitudes, scene.dark).spectrum;
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(ContradictingImages, AreDarkOnesThatShouldBeBrightAndBrightOnesThatShouldBeDark) {
  Vector<float> amplitudes(5 * 4);
  const std::vector<float> levels{1, 1.1f, 0.5f, 0.1f, 0.9f};
  for (Index l = 0; l < 5; ++l) amplitudes.segment(4 * l, 4).setConstant(levels[size_t(l)]);
  EXPECT_EQ(contradicting_images(amplitudes, 4, {false, false, false, true, true}),
            (std::vector<Index>{2, 4}));
}

TEST(HeldOutImages, AreCoveredByTheOthers) {
  const Scene scene;
  const auto held = choose_held_out(scene.op, 6, 1);
  EXPECT_EQ(held.size(), 6u);
  EXPECT_EQ(choose_held_out(scene.op, 6, 1), held);
  EXPECT_NE(choose_held_out(scene.op, 6, 2), held);
  const PtychographyOperator<Complex> lonely(kHigh, kHigh, {{0, 0}, {24, 24}}, disc(9));
  EXPECT_EQ(error_of([&] { choose_held_out(lonely, 1, 0); }),
            "holdout: only 0 of 2 images are covered by the others, 1 wanted");
}

}  // namespace
}  // namespace udv

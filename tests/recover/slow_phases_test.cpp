// SPDX-License-Identifier: MIT
#include "recover/solver/slow_phases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "recover/wave_phase.hpp"
#include "support/microscope.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace slow_phases_test {

using Complex = std::complex<float>;
using testing::kHigh;
using testing::Scene;

// A sample of modulus 1 with the phase `size` cos(2 pi turns row / rows), times the light's.
Vector<Complex> bent_sample(const Scene& scene, double size, int turns, double curvature) {
  Vector<Complex> image(kHigh * kHigh);
  for (Index i = 0; i < image.size(); ++i) {
    const auto row = static_cast<double>(i / kHigh);
    const double phase = size * std::cos(2 * std::numbers::pi * turns * row / kHigh);
    image(i) = Complex(std::polar(1.0, 0.4 + phase));
  }
  detail::bend_wave(image.data(), kHigh, kHigh, curvature);
  return scene.op.from_image(image);
}

double product_of(const Vector<Complex>& a, const Vector<Complex>& b) {
  return static_cast<double>(a.dot(b).real());
}

TEST(SlowPhases, EnergyIsThatOfASelfAdjointMap) {
  const Scene scene;
  for (const double curvature : {0.0, 2e-3}) {
    const SlowPhases slow(scene.op, scene.truth, curvature, 4.5, 0.7);
    const Vector<Complex> other = bent_sample(scene, 0.3, 2, curvature);
    const double scale = scene.truth.norm() * other.norm();
    EXPECT_NEAR(product_of(other, slow.product(scene.truth)),
                product_of(slow.product(other), scene.truth), 1e-5 * scale);
    EXPECT_NEAR(slow.energy(other), product_of(other, slow.product(other)),
                1e-5 * other.squaredNorm());
  }
}

TEST(SlowPhases, CostTheirSquareAndAbsorptionNothing) {
  const Scene scene;
  const double strength = 0.7, phase = 0.1;
  for (const double curvature : {0.0, 2e-3}) {
    const Vector<Complex> x = bent_sample(scene, phase, 1, curvature);
    const SlowPhases slow(scene.op, x, curvature, 4, strength);
    // Two samples at distance 1, where the strength is (1 - 1 / 16)^2 times that at 0.
    const double expected = strength * std::pow(15.0 / 16, 2) * kHigh * kHigh * phase * phase / 2;
    EXPECT_NEAR(slow.energy(x) / expected, 1, 0.02);
    const Vector<Complex> absorbing = x + bent_sample(scene, -phase, 1, curvature);
    EXPECT_LE(slow.energy(absorbing), 1e-3 * expected);
    // Faster ones are free.
    EXPECT_LE(slow.energy(bent_sample(scene, phase, 5, curvature)), 1e-3 * expected);
  }
}

TEST(SlowPhases, AreFreeWhereNothingHoldsThem) {
  const Scene scene;
  EXPECT_TRUE(SlowPhases().empty());
  EXPECT_TRUE(SlowPhases(scene.op, scene.truth, 0, 4, 0).empty());
  EXPECT_TRUE(SlowPhases(scene.op, scene.truth, 0, 0.5, 1).empty());
}

}  // namespace slow_phases_test
}  // namespace udv

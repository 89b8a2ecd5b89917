// SPDX-License-Identifier: MIT
#include "udv/recover/phase_unwrapping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace udv {
namespace phase_unwrapping_test {

using Complex = std::complex<float>;

TEST(UnwrappedPhase, FollowsARampOverManyTurns) {
  RowMatrix<Complex> image(5, 60);
  for (Index r = 0; r < 5; ++r)
    for (Index c = 0; c < 60; ++c)
      image(r, c) = std::polar(1.0f + 0.01f * float(c), 0.7f * float(c));
  const RowMatrix<double> phase = unwrapped_phase(image);
  for (Index c = 1; c < 60; ++c) EXPECT_NEAR(phase(2, c) - phase(2, c - 1), 0.7, 1e-4) << c;
}

TEST(RelativePhase, DoesNotDependOnTheGlobalPhase) {
  RowMatrix<Complex> image(8, 8);
  for (Index i = 0; i < 64; ++i) image.data()[i] = std::polar(1.0f, 0.02f * float(i));
  const RowMatrix<double> phase = relative_phase(image);
  const RowMatrix<double> turned = relative_phase(std::polar(1.0f, 2.5f) * image);
  // Single precision: a few eps, and the sum of 64 pixels.
  EXPECT_LE((phase - turned).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(RelativePhase, EndsOnAnImageThatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(relative_phase(RowMatrix<Complex>::Constant(3, 3, Complex(nan, nan))).size(), 9);
}

TEST(UnwrappedPhase, OfNothingIsNothing) {
  EXPECT_EQ(unwrapped_phase(RowMatrix<Complex>(0, 4)).size(), 0);
}

}  // namespace phase_unwrapping_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace udv {
namespace {

using Complex = std::complex<float>;

TEST(GrayPicture, GoesFromBlackToWhite) {
  RowMatrix<double> values(1, 3);
  values << -2, 0, 2;
  EXPECT_EQ(gray_picture(values), (RowMatrix<std::uint8_t>(1, 3) << 0, 128, 255).finished());
}

TEST(GrayPicture, CutsAFewOutliers) {
  RowMatrix<double> values = RowMatrix<double>::Constant(40, 40, 1);
  values.bottomRows(20).setConstant(2);
  values(0, 0) = 1e9;
  EXPECT_EQ(gray_picture(values)(0, 0), 255);
  EXPECT_EQ(gray_picture(values)(1, 1), 0);
  EXPECT_EQ(gray_picture(values)(39, 39), 255);
}

TEST(GrayPicture, ShowsWhatIsNotFiniteAsBlack) {
  RowMatrix<double> values(1, 3);
  values << std::nan(""), 1, std::numeric_limits<double>::infinity();
  EXPECT_EQ(gray_picture(values)(0, 0), 0);
  EXPECT_EQ(gray_picture(values)(0, 2), 0);
  EXPECT_EQ(gray_picture(RowMatrix<double>::Constant(2, 2, std::nan(""))),
            (RowMatrix<std::uint8_t>::Zero(2, 2)));
  EXPECT_EQ(gray_picture(RowMatrix<double>(0, 3)).size(), 0);
}

TEST(GrayPicture, OfAConstantIsOneGrey) {
  EXPECT_EQ(gray_picture(RowMatrix<double>::Constant(2, 2, 5)),
            (RowMatrix<std::uint8_t>::Zero(2, 2)));
}

TEST(UnwrappedPhase, FollowsARampOverManyTurns) {
  RowMatrix<Complex> image(5, 60);
  for (Index r = 0; r < 5; ++r)
    for (Index c = 0; c < 60; ++c)
      image(r, c) = std::polar(1.0f + 0.01f * float(c), 0.7f * float(c));
  const RowMatrix<double> phase = unwrapped_phase(image);
  for (Index c = 1; c < 60; ++c) EXPECT_NEAR(phase(2, c) - phase(2, c - 1), 0.7, 1e-4) << c;
}

TEST(PhasePicture, DoesNotDependOnTheGlobalPhase) {
  RowMatrix<Complex> image(8, 8);
  for (Index i = 0; i < 64; ++i) image.data()[i] = std::polar(1.0f, 0.02f * float(i));
  const auto picture = phase_picture(image);
  const auto turned = phase_picture(std::polar(1.0f, 2.5f) * image);
  EXPECT_LE((picture.cast<int>() - turned.cast<int>()).cwiseAbs().maxCoeff(), 1);
}

TEST(PhasePicture, EndsOnAnImageThatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(phase_picture(RowMatrix<Complex>::Constant(3, 3, Complex(nan, nan))).size(), 9);
}

}  // namespace
}  // namespace udv

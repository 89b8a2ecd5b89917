// SPDX-License-Identifier: MIT
#include "udv/recover/led_geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/capture.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace led_geometry_test {

using testing::Capture;
using testing::CaptureFaults;
using testing::simulate_capture;

TEST(LedGeometry, IsFoundWhereTheSetupIsWrong) {
  const CaptureFaults faults{.background = 0.003,
                             .rotation_degrees = 6,
                             .distance_factor = 1.06,
                             .x_offset_mm = 0.5,
                             .y_offset_mm = -0.4,
                             .mirrored = true,
                             .swapped = true};
  const Capture capture = simulate_capture(faults, 3);
  const LedGeometry found = find_led_geometry(capture.images, capture.nominal, capture.leds);
  EXPECT_TRUE(found.is_seen());
  EXPECT_GT(found.score, 2 * found.setup_score);
  EXPECT_TRUE(found.optics.mirrored && found.optics.swapped);
  EXPECT_NEAR(found.optics.rotation_degrees, 6, 1.5);
  EXPECT_NEAR(found.optics.led_distance_mm / capture.truth.led_distance_mm, 1, 0.04);
  EXPECT_NEAR(found.optics.x_offset_mm, 0.5, 0.3);
  EXPECT_NEAR(found.optics.y_offset_mm, -0.4, 0.3);
}

TEST(LedGeometry, IsFoundInSpiteOfHotPixels) {
  const CaptureFaults faults{.hot_pixels = 10, .rotation_degrees = 5, .swapped = true};
  const Capture capture = simulate_capture(faults, 4);
  const LedGeometry found = find_led_geometry(capture.images, capture.nominal, capture.leds);
  EXPECT_GT(found.score, 0.5) << "0.3 with these pixels in the spectra";
  EXPECT_TRUE(found.optics.swapped && !found.optics.mirrored);
  EXPECT_NEAR(found.optics.rotation_degrees, 5, 0.6);
}

TEST(LedGeometry, ShowsAWrongNumericalAperture) {
  Capture capture = simulate_capture({}, 5);
  const double right = capture.nominal.numerical_aperture;
  EXPECT_EQ(find_led_geometry(capture.images, capture.nominal, capture.leds).numerical_aperture,
            right);
  capture.nominal.numerical_aperture = 1.15 * right;
  const LedGeometry found = find_led_geometry(capture.images, capture.nominal, capture.leds);
  EXPECT_NEAR(found.numerical_aperture / right, 1, 0.06);
}

TEST(LedGeometry, ImagesInAnotherOrderAreAWarning) {
  const Capture capture = simulate_capture({}, 6);
  std::vector<GridPoint> leds = capture.leds;
  std::rotate(leds.begin(), leds.begin() + 40, leds.end());
  const auto data =
      ptychography_data(capture.images, capture.nominal, illuminations(capture.nominal, leds));
  EXPECT_NE(data.warnings.back().find("geometry of the LEDs is probably wrong"), std::string::npos)
      << data.warnings.back();
  EXPECT_NE(testing::error_of([&] { split_images(data, 20); }).find("images were left out before"),
            std::string::npos);
}

TEST(LedGeometry, OfTheSetupIsKeptWhereItIsRight) {
  const Capture capture = simulate_capture({}, 2);
  const auto off = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kOff);
  EXPECT_EQ(off.geometry.bright_images, 0);
  EXPECT_TRUE(off.warnings.empty());
  const LedGeometry found = find_led_geometry(capture.images, capture.nominal, capture.leds);
  EXPECT_FALSE(found.optics.mirrored || found.optics.swapped);
  EXPECT_NEAR(found.optics.rotation_degrees, 0, 1.5);
}

TEST(LedGeometry, OfWrongOrientationIsSaidAndReplaced) {
  const Capture capture = simulate_capture({.mirrored = true}, 1);
  const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto);
  EXPECT_TRUE(chosen.optics.mirrored);
  ASSERT_EQ(chosen.warnings.size(), 1u);
  EXPECT_NE(chosen.warnings[0].find("the images show mirrored, rotation"), std::string::npos)
      << chosen.warnings[0];
}

TEST(LedGeometry, NeedsOneLedForEachImage) {
  const Capture capture = simulate_capture({}, 0);
  EXPECT_EQ(testing::error_of([&] { find_led_geometry(capture.images, capture.nominal, {}); }),
            "0 LEDs found, 81 expected, one for each image");
}

}  // namespace led_geometry_test
}  // namespace udv

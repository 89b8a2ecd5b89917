// SPDX-License-Identifier: MIT
#include "udv/recover/led_geometry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/capture.hpp"
#include "support/random_data.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace led_geometry_test {

using testing::Capture;
using testing::CaptureFaults;
using testing::kCaptureSize;
using testing::simulate_capture;

const CalibrationAids kNoReconstructions{.stopped = [] { return true; }};

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

TEST(LedGeometry, AnApertureThatExplainsImagesBetterIsTaken) {
  Capture capture = simulate_capture({.aberration = 0.3}, 5);
  const double right = capture.nominal.numerical_aperture;
  capture.nominal.numerical_aperture = 1.1 * right;
  const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto);
  EXPECT_NEAR(chosen.optics.numerical_aperture / right, 1, 0.03);
  EXPECT_NE(chosen.warnings[0].find("the setup says an NA of 0.11; one of 0.1"), std::string::npos)
      << chosen.warnings[0];
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
  const auto kept = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto);
  EXPECT_EQ(geometry_text(kept.optics), geometry_text(capture.nominal));
  EXPECT_TRUE(kept.warnings.empty());
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

TEST(LedGeometry, DefocusOfTheSetupIsKeptWhereItIsRight) {
  const Capture capture = simulate_capture({}, 3);
  const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto);
  EXPECT_EQ(chosen.optics.defocus_m, 0);
}

TEST(LedGeometry, DefocusThatNobodyKnowsIsFoundFromBrightImages) {
  const Capture capture = simulate_capture({.aberration = 0.3, .defocus_m = -8e-5}, 3);
  for (const double said : {0.0, 8e-5}) {
    Optics setup = capture.nominal;
    setup.defocus_m = said;
    const auto chosen = calibrate(capture.images, setup, capture.leds, Calibration::kAuto);
    EXPECT_NEAR(chosen.optics.defocus_m, -8e-5, 4e-5) << said;
    ASSERT_FALSE(chosen.warnings.empty());
    EXPECT_NE(chosen.warnings.back().find("the setup says a defocus of"), std::string::npos)
        << chosen.warnings.back();
  }
}

// What a known pupil does to the images is no reason to look for another defocus.
TEST(LedGeometry, AKnownPupilHasItsDefocusInIt) {
  const Capture capture = simulate_capture({.aberration = 0.3, .defocus_m = -8e-5}, 3);
  const CalibrationAids aids{.pupil = capture.pupil};
  const auto chosen =
      calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto, aids);
  EXPECT_EQ(chosen.optics.defocus_m, 0);
  EXPECT_TRUE(chosen.warnings.empty());
}

// Angles decide, not millimetres.
TEST(LedGeometry, IsThatOfALargerMicroscopeToo) {
  Capture capture = simulate_capture({.x_offset_mm = 1, .mirrored = true}, 1);
  const auto small = find_led_geometry(capture.images, capture.nominal, capture.leds);
  for (double* const length : {&capture.nominal.led_pitch_mm, &capture.nominal.led_distance_mm,
                               &capture.nominal.slide_thickness_mm})
    *length *= 10;
  const auto large = find_led_geometry(capture.images, capture.nominal, capture.leds);
  EXPECT_NEAR(large.optics.x_offset_mm, 10 * small.optics.x_offset_mm, 0.01);
  EXPECT_NEAR(large.optics.led_distance_mm, 10 * small.optics.led_distance_mm, 0.1);
  EXPECT_NEAR(large.score, small.score, 1e-4);
}

TEST(LedGeometry, ThatCannotBeCheckedIsAWarning) {
  Capture capture = simulate_capture({}, 1);
  const auto warning = [&] {
    const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto,
                                  kNoReconstructions);
    return chosen.warnings.empty() ? "" : chosen.warnings.front();
  };
  EXPECT_EQ(warning(), "");
  Random random(1, 1);
  for (double& value : capture.images.values) value = 100 + random.normal();
  EXPECT_NE(warning().find("the spectra of bright images show no circles"), std::string::npos)
      << warning();
  capture.images.images = 4;
  capture.images.values.resize(4 * kCaptureSize * kCaptureSize);
  capture.leds.resize(4);
  EXPECT_NE(warning().find("4 bright images, at least 5 expected"), std::string::npos) << warning();
}

// A spectrum that holds the windows of the setup alone is enlarged.
TEST(LedGeometry, HasRoomInTheSpectrum) {
  Capture capture = simulate_capture({.distance_factor = 0.88, .mirrored = true}, 1);
  capture.nominal.upsampling = enough_upsampling(capture.nominal, kCaptureSize, kCaptureSize,
                                                 illuminations(capture.nominal, capture.leds));
  const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto,
                                kNoReconstructions);
  const auto lights = illuminations(chosen.optics, capture.leds);
  EXPECT_GE(chosen.optics.upsampling,
            enough_upsampling(chosen.optics, kCaptureSize, kCaptureSize, lights));
}

TEST(LedGeometry, IsNotLookedForAfterAnInterrupt) {
  const Capture capture = simulate_capture({.mirrored = true, .defocus_m = 8e-5}, 1);
  int asked = 0;
  const CalibrationAids aids{.stopped = [&] { return ++asked > 0; }};
  const auto chosen =
      calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto, aids);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(chosen.optics.defocus_m, 0);
}

// Nobody is told that a setup explains images which it was not compared by.
TEST(LedGeometry, ThatWasNotComparedToTheEndIsSaid) {
  const Capture capture = simulate_capture({.rotation_degrees = 4}, 1);
  const auto chosen = calibrate(capture.images, capture.nominal, capture.leds, Calibration::kAuto,
                                kNoReconstructions);
  EXPECT_EQ(chosen.optics.rotation_degrees, capture.nominal.rotation_degrees);
  ASSERT_EQ(chosen.warnings.size(), 1u);
  EXPECT_EQ(chosen.warnings[0], "the check of the geometry was stopped: the setup is used");
}

TEST(LedGeometry, NeedsOneLedForEachImage) {
  const Capture capture = simulate_capture({}, 0);
  EXPECT_EQ(testing::error_of([&] { find_led_geometry(capture.images, capture.nominal, {}); }),
            "0 LEDs found, 81 expected, one for each image");
}

}  // namespace led_geometry_test
}  // namespace udv

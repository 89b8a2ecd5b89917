// SPDX-License-Identifier: MIT
#include "udv/recover/optics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/require.hpp"
#include "support/csv.hpp"
#include "support/optics.hpp"

namespace udv {

// GoogleTest prints them where a comparison fails.
void PrintTo(const GridPoint& point, std::ostream* out) {
  *out << "(" << point.x << ", " << point.y << ")";
}
void PrintTo(const Window& window, std::ostream* out) {
  *out << "(" << window.row << ", " << window.col << ")";
}

namespace optics_test {

using testing::data_folder;
using testing::read_csv;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The blood smear data set; images of 80 x 80 are used.
Optics bloodsmear() {
  Optics optics = testing::low_power_optics(1.845e-6, 90.88);
  optics.slide_thickness_mm = 1;
  optics.slide_index = 1.52;
  optics.y_offset_mm = 0.35;
  optics.defocus_m = 1e-5;
  return optics;
}

Optics centred() {
  Optics optics = bloodsmear();
  optics.y_offset_mm = 0;
  return optics;
}

Optics tilted() {
  Optics optics;
  optics.wavelength_m = 633e-9;
  optics.numerical_aperture = 0.25;
  optics.pixel_m = 0.9e-6;
  optics.led_pitch_mm = 5;
  optics.led_distance_mm = 40;
  optics.slide_thickness_mm = 6;
  optics.slide_index = 1.6;
  optics.rotation_degrees = 17;
  optics.x_offset_mm = -1.25;
  optics.y_offset_mm = 0.5;
  optics.defocus_m = -2e-5;
  optics.upsampling = 3;
  return optics;
}

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(LedOrder, SpiralWindsOutwards) {
  const std::vector<GridPoint> first = {{0, 0},   {1, 0},  {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                        {-1, -1}, {0, -1}, {1, -1}, {2, -1}, {2, 0},  {2, 1},
                                        {2, 2},   {1, 2},  {0, 2},  {-1, 2}};
  EXPECT_EQ(spiral_order(16), first);
  EXPECT_TRUE(spiral_order(0).empty());
}

TEST(LedOrder, SpiralFillsASquare) {
  std::vector<std::vector<int>> seen(15, std::vector<int>(15));
  for (const GridPoint& point : spiral_order(225))
    ++seen.at(static_cast<size_t>(point.y + 7)).at(static_cast<size_t>(point.x + 7));
  for (const auto& row : seen) EXPECT_EQ(row, std::vector<int>(15, 1));
}

TEST(LedOrder, RasterRunsRowByRowAboutTheMiddle) {
  const std::vector<GridPoint> odd = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {0, 0},
                                      {1, 0},   {-1, 1}, {0, 1},  {1, 1}};
  EXPECT_EQ(raster_order(3, 3), odd);
  const std::vector<GridPoint> even = {{-1, 0}, {0, 0}};
  EXPECT_EQ(raster_order(1, 2), even);
}

TEST(LedOrder, RefusesNegativeSizes) {
  EXPECT_EQ(error_of([] { spiral_order(-1); }),
            "a spiral of -1 LEDs asked for, 0 or more expected");
  EXPECT_EQ(error_of([] { raster_order(2, -3); }),
            "a grid of 2 x -3 LEDs asked for, 0 or more in each direction expected");
}

/// Where the ray enters the slide, by bisection: n entry / hypot(entry, t) = sine in air.
double na_by_bisection(double radius, double distance, double thickness, double index) {
  double low = 0, high = radius, air = 0;
  for (int step = 0; step < 200; ++step) {
    const double entry = (low + high) / 2;
    air = (radius - entry) / std::hypot(radius - entry, distance);
    (index * entry < air * std::hypot(entry, thickness) ? low : high) = entry;
  }
  return air;
}

TEST(Illuminations, RefractionObeysSnell) {
  for (double thickness : {0.1, 1.0, 30.0})
    for (double index : {1.0, 1.52, 4.0})
      for (double distance : {2.0, 90.88}) {
        Optics optics = centred();
        optics.slide_thickness_mm = thickness;
        optics.slide_index = index;
        optics.led_distance_mm = distance;
        for (Index x : {1, 3, 7}) {
          const double radius = static_cast<double>(x) * optics.led_pitch_mm;
          EXPECT_NEAR(illuminations(optics, {{double(x), 0}})[0].na,
                      na_by_bisection(radius, distance, thickness, index), 20 * kEps);
        }
      }
}

TEST(Illuminations, WithoutASlideAreStraight) {
  Optics optics = centred();
  optics.slide_thickness_mm = 0;
  const Illumination light = illuminations(optics, {{3, -4}})[0];
  EXPECT_NEAR(light.na, 20 / std::hypot(20, 90.88), 4 * kEps);
  EXPECT_NEAR(light.kx, -light.na * 0.6, 4 * kEps);
  EXPECT_NEAR(light.ky, light.na * 0.8, 4 * kEps);
  EXPECT_EQ(light.led, (GridPoint{3, -4}));
}

TEST(Illuminations, RotationTurnsXTowardsY) {
  Optics optics = centred();
  const Illumination y = illuminations(optics, {{0, 1}})[0];
  optics.rotation_degrees = 90;
  const Illumination x = illuminations(optics, {{1, 0}})[0];
  EXPECT_NEAR(x.kx, y.kx, 4 * kEps);
  EXPECT_NEAR(x.ky, y.ky, 4 * kEps);
}

TEST(Illuminations, OfAnLedOnTheAxisAreVertical) {
  const Illumination light = illuminations(centred(), {{0, 0}})[0];
  EXPECT_EQ(light.kx, 0);
  EXPECT_EQ(light.ky, 0);
  EXPECT_EQ(light.na, 0);
}

TEST(SpectrumWindows, OfTheAxisHoldsFrequencyZeroAtItsMiddle) {
  const auto lights = illuminations(centred(), {{0, 0}});
  for (Index rows : {80, 81})
    for (Index cols : {47, 64}) {
      const Window window = spectrum_windows(centred(), rows, cols, lights)[0];
      EXPECT_EQ(window.row + rows / 2, rows);  // 2 rows / 2, the middle of the upsampled spectrum
      EXPECT_EQ(window.col + cols / 2, cols);
    }
}

TEST(SpectrumWindows, OfOppositeLedsAreOpposite) {
  const auto leds = raster_order(5, 5);
  const auto windows = spectrum_windows(centred(), 80, 80, illuminations(centred(), leds));
  for (size_t led = 0; led < leds.size(); ++led) {
    const Window& opposite = windows[leds.size() - 1 - led];
    EXPECT_EQ(windows[led].row + opposite.row, 80);
    EXPECT_EQ(windows[led].col + opposite.col, 80);
  }
}

TEST(SpectrumWindows, LieOnTheSideOfTheirLed) {
  const auto lights = illuminations(centred(), {{1, 0}, {0, 1}});
  const auto windows = spectrum_windows(centred(), 80, 80, lights);
  EXPECT_EQ(windows[0], (Window{40, 52}));
  EXPECT_EQ(windows[1], (Window{52, 40}));
}

TEST(SpectrumWindows, NamesTheLedThatLeavesTheSpectrum) {
  const auto lights = illuminations(bloodsmear(), spiral_order(81));
  EXPECT_EQ(error_of([&] { spectrum_windows(bloodsmear(), 80, 80, lights); }),
            "LED 50 at (4, -3), NA 0.211352, shows frequencies beyond the image with upsampling "
            "2; upsampling 3, or LEDs of smaller NA, expected");
  Optics enough = bloodsmear();
  enough.upsampling = 3;
  EXPECT_EQ(spectrum_windows(enough, 80, 80, lights).size(), 81u);
}

TEST(Pupil, WithoutDefocusIsADiscAboutFrequencyZero) {
  Optics optics = bloodsmear();
  optics.defocus_m = 0;
  const auto P = pupil(optics, 80, 60);
  const double rows_radius = 0.1 * 80 * 1.845e-6 / 532e-9, cols_radius = rows_radius * 60 / 80;
  for (Index row = 0; row < 80; ++row)
    for (Index col = 0; col < 60; ++col) {
      const double rho = std::hypot(static_cast<double>(row - 40) / rows_radius,
                                    static_cast<double>(col - 30) / cols_radius);
      EXPECT_EQ(P(row, col), rho <= 1 ? 1.0 : 0.0);
    }
}

TEST(Pupil, RefusesWhatDoesNotFitTheWindow) {
  Optics optics = bloodsmear();
  optics.numerical_aperture = 0.15;
  EXPECT_EQ(error_of([&] { pupil(optics, 80, 90); }),
            "NA 0.15, wavelength 5.32e-07 m and pixels of 1.845e-06 m give a pupil of radius "
            "41.6165 in images of 80 pixels, 1 to less than 40 expected");
  EXPECT_NE(error_of([&] { spectrum_windows(optics, 80, 90, {}); }).find("radius 41.6165"),
            std::string::npos);
  optics.wavelength_m = 532;  // nm by mistake
  EXPECT_NE(error_of([&] { pupil(optics, 80, 80); }).find("radius 4.16165e-08"), std::string::npos);
}

// The frequencies of a crop are the same, their number is not.
TEST(Pupil, OfWholeImagesIsResampledForACrop) {
  Optics optics = centred();
  optics.defocus_m = 5e-5;
  const auto cropped = cut_at_na(resampled_pupil(pupil(optics, 128, 160), 64, 80), optics);
  const auto expected = pupil(optics, 64, 80);
  EXPECT_EQ((cropped.array() != 0.0).count(), (expected.array() != 0.0).count());
  double worst = 0;
  for (Index i = 0; i < expected.size(); ++i)
    if (expected.data()[i] != 0.0)
      worst = std::max(worst, std::abs(std::arg(cropped.data()[i] / expected.data()[i])));
  // Every second sample of the larger one is a sample of the smaller one, but for those that are
  // filled in at the rim.
  EXPECT_LE(worst, 0.3);
  EXPECT_NEAR(std::abs(cropped(32, 40) - expected(32, 40)), 0, 1e-9);
  EXPECT_EQ(resampled_pupil(expected, 64, 80), expected);
}

TEST(Coverage, CountsTheSharedPartOfTheDiscs) {
  const auto lights = illuminations(centred(), {{0, 0}, {2, 0}, {-2, 0}, {0, 0}});
  const auto windows = spectrum_windows(centred(), 80, 80, lights);
  const auto P = pupil(centred(), 80, 80);
  EXPECT_EQ(coverage(P, windows, 0, {}), 0);
  EXPECT_EQ(coverage(P, windows, 0, {3}), 1);
  const double right = coverage(P, windows, 0, {1});
  EXPECT_NEAR(right, coverage(P, windows, 0, {2}), 1e-12);
  // Two discs of radius R at distance s share 2 acos(s/2R)/pi - s sqrt(4R^2-s^2)/(2 pi R^2).
  const double R = 0.1 * 80 * 1.845e-6 / 532e-9, s = 24;
  EXPECT_EQ(windows[1].col - windows[0].col, 24);
  EXPECT_NEAR(
      right,
      2 * std::acos(s / 2 / R) / M_PI - s * std::sqrt(4 * R * R - s * s) / (2 * M_PI * R * R),
      1 / R);  // the rim passes through about R of the R^2 samples
}

struct GoldenCase {
  const char* name;
  Optics optics;
  std::vector<GridPoint> leds;
  Index rows;
  Index cols;
};

class GoldenOptics : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenOptics, LightsAndWindowsAreThoseOfTheReference) {
  const auto& [name, optics, leds, rows, cols] = GetParam();
  const auto golden = read_csv(data_folder("golden_optics") / message(name, "_leds.csv"));
  const auto lights = illuminations(optics, leds);
  const auto windows = spectrum_windows(optics, rows, cols, lights);
  ASSERT_EQ(golden.rows(), static_cast<Index>(lights.size()));
  for (Index led = 0; led < golden.rows(); ++led) {
    const Illumination& light = lights[static_cast<size_t>(led)];
    const Window& window = windows[static_cast<size_t>(led)];
    EXPECT_EQ(golden(led, 0), light.led.x);
    EXPECT_EQ(golden(led, 1), light.led.y);
    EXPECT_NEAR(golden(led, 2), light.kx, 20 * kEps);
    EXPECT_NEAR(golden(led, 3), light.ky, 20 * kEps);
    EXPECT_NEAR(golden(led, 4), light.na, 20 * kEps);
    EXPECT_EQ(golden(led, 5), window.row) << "LED " << led + 1;
    EXPECT_EQ(golden(led, 6), window.col) << "LED " << led + 1;
  }
}

TEST_P(GoldenOptics, PupilAndCoverageAreThoseOfTheReference) {
  const auto& [name, optics, leds, rows, cols] = GetParam();
  const auto P = pupil(optics, rows, cols);
  const auto values = read_csv(data_folder("golden_optics") / message(name, "_pupil.csv"));
  const double phase = 2 * M_PI * std::abs(optics.defocus_m) / optics.wavelength_m;
  for (Index i = 0; i < values.rows(); ++i) {
    const std::complex<double> golden(values(i, 2), values(i, 3));
    const auto ours = P(static_cast<Index>(values(i, 0)), static_cast<Index>(values(i, 1)));
    EXPECT_LT(std::abs(golden - ours), 10 * kEps * phase);
  }
  const auto golden = read_csv(data_folder("golden_optics") / message(name, "_leds.csv"));
  const auto windows = spectrum_windows(optics, rows, cols, illuminations(optics, leds));
  for (Index led = 0; led < golden.rows(); ++led) {
    std::vector<Index> others(leds.size());
    std::iota(others.begin(), others.end(), 0);
    others.erase(others.begin() + led);
    EXPECT_NEAR(golden(led, 7), coverage(P, windows, led, others), 10 * kEps);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, GoldenOptics,
    ::testing::Values(GoldenCase{"bloodsmear", bloodsmear(), spiral_order(41), 80, 80},
                      GoldenCase{"tilted", tilted(), raster_order(7, 5), 48, 65}),
    [](const auto& info) { return std::string(info.param.name); });

struct WrongValue {
  double Optics::*field;
  double value;
  const char* error;
};

class OpticsValidation : public ::testing::TestWithParam<WrongValue> {};

TEST_P(OpticsValidation, NamesFieldAndValue) {
  Optics optics = bloodsmear();
  EXPECT_NO_THROW(optics.validate());
  optics.*GetParam().field = GetParam().value;
  EXPECT_EQ(error_of([&] { optics.validate(); }), GetParam().error);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Of, OpticsValidation,
    ::testing::Values(
        WrongValue{&Optics::wavelength_m, 0, "wavelength_m is 0, a positive number expected"},
        WrongValue{&Optics::numerical_aperture, 1,
                   "numerical_aperture is 1, a number between 0 and 1 expected"},
        WrongValue{&Optics::numerical_aperture, kNan,
                   "numerical_aperture is nan, a number between 0 and 1 expected"},
        WrongValue{&Optics::pixel_m, -1, "pixel_m is -1, a positive number expected"},
        WrongValue{&Optics::led_pitch_mm, kInfinity,
                   "led_pitch_mm is inf, a positive number expected"},
        WrongValue{&Optics::led_distance_mm, 0, "led_distance_mm is 0, a positive number expected"},
        WrongValue{&Optics::slide_thickness_mm, -0.5,
                   "slide_thickness_mm is -0.5, 0 or more expected"},
        WrongValue{&Optics::slide_index, 0.9, "slide_index is 0.9, 1 or more expected"},
        WrongValue{&Optics::rotation_degrees, kNan,
                   "rotation_degrees is nan, a finite number expected"},
        WrongValue{&Optics::x_offset_mm, kNan, "x_offset_mm is nan, a finite number expected"},
        WrongValue{&Optics::y_offset_mm, kNan, "y_offset_mm is nan, a finite number expected"},
        WrongValue{&Optics::defocus_m, kInfinity, "defocus_m is inf, a finite number expected"}));

TEST(Optics, RefusesImagesWithoutPixelsAndNoUpsampling) {
  EXPECT_EQ(error_of([] { pupil(bloodsmear(), 0, 80); }),
            "images of 0 x 80 pixels found, one pixel or more in each direction expected");
  Optics optics = bloodsmear();
  optics.upsampling = 0;
  EXPECT_EQ(error_of([&] { optics.validate(); }), "upsampling is 0, 1 or more expected");
}

}  // namespace optics_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography_field.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/capture.hpp"
#include "support/optics.hpp"
#include "support/random_data.hpp"
#include "udv/recover/phase_unwrapping.hpp"

namespace udv {
namespace ptychography_field_test {

using testing::error_of;
using testing::ThreadCount;

// 9 LEDs in the middle, few steps: what is tested here is not how good the picture is.
struct SmallField {
  testing::FieldCapture capture = testing::simulate_field({.aberration = 0.5}, 72, 1);
  FieldOptions options;

  SmallField() {
    PtychographyField& field = capture.field;
    const ImageStack all = field.images;
    const std::vector<GridPoint> leds = field.leds;
    field.leds.clear();
    field.images.values.clear();
    const Index pixels = all.rows * all.cols;
    for (size_t l = 0; l < leds.size(); ++l) {
      if (std::abs(leds[l].x) > 1 || std::abs(leds[l].y) > 1) continue;
      field.leds.push_back(leds[l]);
      const auto first = all.values.begin() + static_cast<Index>(l) * pixels;
      field.images.values.insert(field.images.values.end(), first, first + pixels);
    }
    field.images.images = static_cast<Index>(field.leds.size());
    options.tiles = {40, 12};
    options.image.dynamics = false;
    options.image.pupil_rounds = 0;
    options.image.led_gains = false;
  }
};

TEST(Field, OpticsOfAPlaceMoveTheLedsTheOtherWay) {
  Optics optics = testing::low_power_optics();
  optics.rotation_degrees = 30;
  const std::vector<GridPoint> leds{{1, 2}};
  const auto middle = illuminations(optics, leds)[0];
  // As far as the LED itself is from the axis: the light comes from straight below.
  const double radius_m =
      1e-3 * optics.led_distance_mm * middle.na / std::sqrt(1 - middle.na * middle.na);
  const double x = -radius_m * middle.kx / middle.na, y = -radius_m * middle.ky / middle.na;
  EXPECT_NEAR(illuminations(optics_at(optics, x, y), leds)[0].na, 0, 1e-9);
}

TEST(Field, TilesGiveTheSameBitsOnAnyNumberOfThreadsAndAfterAStop) {
  const SmallField small;
  const auto run = [&](const Hooks& hooks) {
    return recover_field(small.capture.field, small.options, hooks);
  };
  FieldRecovery one, stopped;
  std::string state;
  {
    const ThreadCount threads(1);
    one = run({});
    Index calls = 0;
    Hooks hooks;
    hooks.observer = [&](const IterationRecord&) {
      return ++calls > 15 ? Verdict::kInterrupt : Verdict::kContinue;
    };
    hooks.save = [&](const std::string& bytes) { state = bytes; };
    stopped = run(hooks);
  }
  EXPECT_EQ(one.done(), 4);
  EXPECT_LE(one.amplitude_residual(), 0.1);
  const ThreadCount threads(3);
  EXPECT_EQ(run({}).image, one.image);
  EXPECT_LT(stopped.done(), 4);
  EXPECT_EQ(stopped.verdict, Verdict::kInterrupt);
  Hooks again;
  again.resume = state;
  EXPECT_EQ(run(again).image, one.image);
  FieldOptions other = small.options;
  other.tiles.overlap = 14;
  EXPECT_NE(error_of([&] {
              recover_field(small.capture.field, other, again);
            }).find("another problem or to other options"),
            std::string::npos);
}

TEST(Field, ATileWithoutLightIsLeftOut) {
  SmallField small;
  ImageStack& images = small.capture.field.images;
  const TileGrid grid = tile_grid(images.rows, images.cols, small.options.tiles);
  const Tile& corner = grid.tiles.front();
  for (Index l = 0; l < images.images; ++l)
    for (Index r = corner.row; r < corner.row + corner.rows; ++r)
      for (Index c = corner.col; c < corner.col + corner.cols; ++c)
        images.values[static_cast<size_t>((l * images.rows + r) * images.cols + c)] = 0;
  const FieldRecovery found = recover_field(small.capture.field, small.options);
  EXPECT_EQ(found.verdict, Verdict::kContinue);
  EXPECT_EQ(found.done(), static_cast<Index>(grid.tiles.size()) - 1);
  EXPECT_NE(found.tiles.front().failed.find("all images are zero"), std::string::npos);
}

TEST(Field, ATileThatMakesNoSenseIsNamed) {
  PtychographyField field;
  field.optics = testing::low_power_optics();
  field.leds = spiral_order(9);
  field.images = {9, 72, 72, ImageKind::kIntensity, std::vector<double>(9 * 72 * 72, 0)};
  FieldOptions options;
  options.tiles = {40, 12};
  EXPECT_EQ(error_of([&] { recover_field(field, options); }),
            "tile of 48 x 48 pixels at (0, 0): all images are zero");
}

TEST(PhaseQuality, VorticesAreCountedWhereThereIsLight) {
  const auto vortex = [](double light) {
    RowMatrix<std::complex<float>> image(20, 20);
    for (Index r = 0; r < 20; ++r)
      for (Index c = 0; c < 20; ++c) {
        const double y = static_cast<double>(r) - 9.5, x = static_cast<double>(c) - 9.5;
        const double size = std::hypot(x, y) < 2 ? light : 1;
        image(r, c) = std::complex<float>(std::polar(size, std::atan2(y, x)));
      }
    return image;
  };
  EXPECT_EQ(count_vortices(vortex(1)), 1);
  EXPECT_EQ(count_vortices(vortex(0.01)), 0);
  EXPECT_EQ(count_vortices(RowMatrix<std::complex<float>>::Ones(5, 5)), 0);
}

TEST(PhaseQuality, ABowlIsMeasuredWhateverTheTilt) {
  RowMatrix<std::complex<float>> image(40, 60);
  const double corner = std::hypot(19.5, 29.5);
  for (Index r = 0; r < 40; ++r)
    for (Index c = 0; c < 60; ++c) {
      const double y = (static_cast<double>(r) - 19.5) / corner;
      const double x = (static_cast<double>(c) - 29.5) / corner;
      image(r, c) = std::complex<float>(std::polar(1.0, 0.7 + 0.5 * x + 1.5 * (x * x + y * y)));
    }
  EXPECT_NEAR(phase_bowl(image), 1.5, 1e-4);
}

}  // namespace ptychography_field_test
}  // namespace udv

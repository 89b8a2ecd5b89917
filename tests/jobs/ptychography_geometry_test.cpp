// SPDX-License-Identifier: MIT
#include "jobs/ptychography_geometry.hpp"

#include <gtest/gtest.h>

#include "support/optics.hpp"

namespace udv::jobs {
namespace ptychography_geometry_test {

PtychographyField field() {
  PtychographyField made;
  made.optics = testing::low_power_optics();
  made.leds = spiral_order(5);
  made.images = {5, 8, 8, ImageKind::kIntensity, std::vector<double>(5 * 64, 2.0)};
  made.warnings = {"of the reader"};
  return made;
}

ChosenGeometry chosen_for(const PtychographyField& field) {
  ChosenGeometry geometry{capture_hash(field), field.optics, {"the images show something else"}};
  geometry.optics.rotation_degrees = 3.25;
  geometry.optics.mirrored = true;
  return geometry;
}

TEST(ChosenGeometry, IsTakenFromACheckpointWithItsWarnings) {
  PtychographyField made = field();
  const ChosenGeometry geometry = chosen_for(made);
  ASSERT_TRUE(take_geometry(to_bytes(geometry) + "state", made));
  EXPECT_EQ(made.optics.rotation_degrees, 3.25);
  EXPECT_TRUE(made.optics.mirrored);
  EXPECT_EQ(made.warnings,
            (std::vector<std::string>{"of the reader", "the images show something else"}));
}

TEST(ChosenGeometry, OfOtherImagesOrCutShortIsNotTaken) {
  PtychographyField made = field();
  ChosenGeometry geometry = chosen_for(made);
  EXPECT_FALSE(take_geometry("", made));
  EXPECT_FALSE(take_geometry("a state without a geometry", made));
  EXPECT_FALSE(take_geometry(to_bytes(geometry).substr(0, 40), made));
  geometry.finished = false;
  EXPECT_FALSE(take_geometry(to_bytes(geometry), made));
  geometry.finished = true;
  made.images.values[5] *= 2;
  EXPECT_FALSE(take_geometry(to_bytes(geometry), made));
  EXPECT_EQ(made.warnings.size(), 1u);
}

TEST(ChosenGeometry, StandsInFrontOfStates) {
  const ChosenGeometry geometry = chosen_for(field());
  const std::string bytes = to_bytes(geometry);
  std::string saved;
  const auto hooks_of = [&](const std::string& payload) {
    Hooks hooks;
    hooks.resume = payload;
    hooks.save = [&saved](const std::string& state) { saved = state; };
    return with_geometry(hooks, bytes);
  };
  const Hooks fresh = hooks_of("");
  EXPECT_EQ(saved, bytes);
  EXPECT_EQ(fresh.resume, "");
  fresh.save("state");
  EXPECT_EQ(saved, bytes + "state");
  EXPECT_EQ(hooks_of(saved).resume, "state");
  // Checkpoints of runs without a calibration have none.
  EXPECT_EQ(hooks_of("state").resume, "state");
}

// A time limit had cut the choice short; now it was made, and differs.
TEST(ChosenGeometry, ThatIsAnotherOneStartsTheFitAgain) {
  const ChosenGeometry geometry = chosen_for(field());
  ChosenGeometry early = geometry;
  early.finished = false;
  Hooks hooks;
  hooks.resume = to_bytes(early) + "state";
  EXPECT_EQ(with_geometry(hooks, to_bytes(geometry)).resume, "state");
  early.optics.rotation_degrees = 0;
  hooks.resume = to_bytes(early) + "state";
  EXPECT_EQ(with_geometry(hooks, to_bytes(geometry)).resume, "");
}

}  // namespace ptychography_geometry_test
}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include "report/thinning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace udv::report {
namespace thinning_test {

struct Curve {
  std::vector<double> x, y;
};

Curve noisy_decay(std::size_t size) {
  Curve curve;
  for (std::size_t i = 0; i < size; ++i) {
    curve.x.push_back(static_cast<double>(i + 1));
    curve.y.push_back(1 / curve.x.back() + 1e-3 * std::sin(0.7 * static_cast<double>(i)));
  }
  return curve;
}

TEST(Thinning, KeepsAllOfAShortCurve) {
  const Curve curve = noisy_decay(50);
  EXPECT_EQ(thinned(curve.x, curve.y, 100, true).size(), 50u);
}

TEST(Thinning, KeepsEndsAndExtremesOfALongOne) {
  Curve curve = noisy_decay(100'000);
  curve.y[77'777] = 9;
  curve.y[33'333] = -9;
  for (const bool log_x : {true, false}) {
    const auto which = thinned(curve.x, curve.y, 100, log_x);
    EXPECT_LE(which.size(), 302u);
    EXPECT_GE(which.size(), 100u);
    EXPECT_TRUE(std::is_sorted(which.begin(), which.end()));
    for (const std::size_t wanted : {0, 33'333, 77'777, 99'999})
      EXPECT_NE(std::find(which.begin(), which.end(), wanted), which.end()) << wanted;
  }
}

TEST(Thinning, SpreadsPointsOverTheLogarithm) {
  const Curve curve = noisy_decay(100'000);
  const auto which = thinned(curve.x, curve.y, 50, true);
  const auto early = std::count_if(which.begin(), which.end(), [](auto i) { return i < 316; });
  EXPECT_GT(early, static_cast<long>(which.size()) / 4);
}

TEST(Thinning, TakesGapsAndConstantTimes) {
  std::vector<double> x(1000, 5.0), y(1000, NAN);
  y[500] = 1;
  const auto which = thinned(x, y, 10, true);
  EXPECT_NE(std::find(which.begin(), which.end(), 500u), which.end());
  EXPECT_TRUE(thinned({}, {}, 10, true).empty());
}

TEST(Thinning, SpreadsFramesWithBothEnds) {
  const auto frames = log_spread(10'000, 40);
  EXPECT_LE(frames.size(), 40u);
  EXPECT_EQ(frames.front(), 0u);
  EXPECT_EQ(frames.back(), 9'999u);
  EXPECT_EQ(log_spread(7, 40).size(), 7u);
}

}  // namespace thinning_test
}  // namespace udv::report

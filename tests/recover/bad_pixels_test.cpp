// SPDX-License-Identifier: MIT
#include "recover/bad_pixels.hpp"

#include <gtest/gtest.h>

#include "udv/core/random.hpp"

namespace udv {
namespace bad_pixels_test {

constexpr Index kSide = 16, kImages = 12, kPixels = kSide * kSide;

// Amplitudes near 1; every second image is dark.
std::vector<float> images() {
  std::vector<float> values;
  Random random(1, 2);
  for (Index l = 0; l < kImages; ++l)
    for (Index i = 0; i < kPixels; ++i)
      values.push_back(static_cast<float>((l % 2 == 0 ? 1 : 0.1) * (1 + 0.05 * random.normal())));
  return values;
}

std::vector<Index> bad_of(const std::vector<float>& values, Index count = kImages) {
  return find_bad_pixels({values.data(), count, kSide, kSide});
}

TEST(BadPixels, AreThoseFarFromTheirNeighboursInAllImages) {
  std::vector<float> values = images();
  EXPECT_TRUE(bad_of(values).empty());
  for (Index l = 0; l < kImages; ++l) {
    values[static_cast<size_t>(l * kPixels + 37)] = 2;
    values[static_cast<size_t>(l * kPixels + 200)] = 0;
  }
  values[90] = 5;  // in one image alone
  EXPECT_EQ(bad_of(values), (std::vector<Index>{37, 200}));
  EXPECT_TRUE(bad_of(values, 7).empty()) << "too few images";
}

// A pixel in the corner of a bar is far from the median of its neighbours in every image, too.
TEST(BadPixels, AreNotCornersOfBars) {
  std::vector<float> values = images();
  for (Index l = 0; l < kImages; ++l)
    for (Index r = 4; r < 12; ++r)
      for (Index c = 0; c < kSide; ++c)
        if (c % 6 < 3) values[static_cast<size_t>(l * kPixels + r * kSide + c)] *= 0.05f;
  EXPECT_TRUE(bad_of(values).empty());
}

TEST(BadPixels, AreDeadWhereDarkImagesAreZeroAllAround) {
  std::vector<float> values = images();
  for (Index l = 0; l < kImages; ++l) {
    for (Index i = 0; i < kPixels; ++i)
      if (l % 2 == 1 && i % 4 != 0) values[static_cast<size_t>(l * kPixels + i)] = 0;
    values[static_cast<size_t>(l * kPixels + 37)] = 0;
  }
  EXPECT_EQ(bad_of(values), (std::vector<Index>{37}));
}

TEST(BadPixels, TakeTheMedianOfGoodNeighbours) {
  std::vector<float> image(kPixels, 1);
  image[0] = 9;
  image[1] = 8;
  fill_from_neighbours(image.data(), kSide, kSide, {0, 1});
  EXPECT_EQ(image, std::vector<float>(kPixels, 1));
}

}  // namespace bad_pixels_test
}  // namespace udv

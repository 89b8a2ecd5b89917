// SPDX-License-Identifier: MIT
#include "udv/recover/tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace udv {
namespace tiles_test {

using Image = RowMatrix<std::complex<float>>;

Image smooth_image(Index rows, Index cols) {
  Image image(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const double y = 0.06 * static_cast<double>(r), x = 0.05 * static_cast<double>(c);
      image(r, c) = std::complex<float>(
          std::polar(1 + 0.3 * std::sin(x) * std::cos(y), 0.8 * std::sin(x + 2 * y)));
    }
  return image;
}

// Parts of an image, each with a factor and a curvature of its own.
std::vector<Image> spoiled_parts(const Image& image, const TileGrid& grid, Index up, double bend) {
  std::vector<Image> parts;
  for (size_t t = 0; t < grid.tiles.size(); ++t) {
    const Tile& tile = grid.tiles[t];
    Image part = image.block(tile.row * up, tile.col * up, tile.rows * up, tile.cols * up);
    const double phase = 2.0 * static_cast<double>(t), gain = 1 + 0.05 * static_cast<double>(t % 3);
    for (Index r = 0; r < part.rows(); ++r)
      for (Index c = 0; c < part.cols(); ++c) {
        const double y = static_cast<double>(r) - 0.5 * static_cast<double>(part.rows() - 1);
        const double x = static_cast<double>(c) - 0.5 * static_cast<double>(part.cols() - 1);
        part(r, c) *= std::complex<float>(std::polar(gain, phase + 0.5 * bend * (x * x + y * y)));
      }
    parts.push_back(std::move(part));
  }
  return parts;
}

TEST(Tiles, CoverTheFieldAndShareTheirOverlap) {
  for (const Index size : {40, 97, 130, 256, 1001}) {
    const TileGrid grid = tile_grid(size, 2 * size, {64, 16});
    EXPECT_EQ(static_cast<Index>(grid.tiles.size()), grid.down * grid.across);
    EXPECT_EQ(grid.tiles.front().row, 0);
    EXPECT_EQ(grid.tiles.back().row + grid.tiles.back().rows, size);
    EXPECT_EQ(grid.tiles.back().col + grid.tiles.back().cols, 2 * size);
    for (Index x = 0; x + 1 < grid.across; ++x) {
      const Tile& one = grid.tiles[static_cast<size_t>(x)];
      EXPECT_GE(one.col + one.cols - grid.tiles[static_cast<size_t>(x + 1)].col, 16);
    }
  }
}

TEST(Tiles, ParentsLeadToTheMiddle) {
  const TileGrid grid = tile_grid(400, 700, {64, 16});
  for (Index t = 0; t < static_cast<Index>(grid.tiles.size()); ++t) {
    Index at = t, steps = 0;
    for (; grid.parent(at) >= 0; ++steps) {
      EXPECT_EQ(grid.ring(grid.parent(at)), grid.ring(at) - 1);
      at = grid.parent(at);
    }
    EXPECT_EQ(at, grid.middle());
    EXPECT_EQ(steps, grid.ring(t));
  }
}

TEST(Tiles, AreJoinedWithoutSeamsWhateverTheirPhasesGainsAndCurvature) {
  const Index up = 2;
  const TileGrid grid = tile_grid(150, 200, {64, 20});
  const Image image = smooth_image(150 * up, 200 * up);
  const double bend = 3e-5;
  const std::vector<Image> parts = spoiled_parts(image, grid, up, bend);
  std::vector<const Image*> addresses;
  for (const Image& part : parts) addresses.push_back(&part);
  Seams seams;
  const Image joined = join_tiles(grid, addresses, up, 3, seams);
  EXPECT_NEAR(seams.bend, -bend, 1e-7);
  EXPECT_LT(seams.mismatch, 1e-3);
  const std::complex<float> inner = joined.conjugate().cwiseProduct(image).sum();
  const std::complex<float> factor = inner / std::complex<float>(joined.squaredNorm());
  // Gains are drawn towards 1, phases have no zero: a scale and a phase are left.
  EXPECT_LT((factor * joined - image).norm() / image.norm(), 5e-3);
}

TEST(Tiles, ThatAreMissingLeaveZeros) {
  const TileGrid grid = tile_grid(100, 100, {64, 20});
  const Image image = smooth_image(100, 100), none;
  std::vector<Image> parts = spoiled_parts(image, grid, 1, 0);
  std::vector<const Image*> addresses;
  for (const Image& part : parts) addresses.push_back(&part);
  addresses[3] = &none;
  Seams seams;
  const Image joined = join_tiles(grid, addresses, 1, 3, seams);
  EXPECT_EQ(joined(99, 99), std::complex<float>(0));
  EXPECT_GT(std::abs(joined(0, 0)), 0.1);
}

TEST(Tiles, ThatAreTooSmallAreRefused) {
  EXPECT_THROW(tile_grid(100, 100, {16, 4}), std::exception);
  EXPECT_THROW(tile_grid(0, 100, {}), std::exception);
}

}  // namespace tiles_test
}  // namespace udv

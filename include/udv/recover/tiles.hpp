// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Pixels row .. row + rows - 1 and col .. col + cols - 1 of a field.
struct Tile {
  Index row = 0, col = 0, rows = 0, cols = 0;
};

struct UDV_EXPORT TileOptions {
  Index side = 96;     ///< about; sizes are chosen so that tiles fill the field
  Index overlap = 24;  ///< pixels that neighbours share, at least

  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// Tiles of one size that cover a field, row by row.
struct UDV_EXPORT TileGrid {
  Index rows = 0, cols = 0;  ///< of the field
  Index down = 0, across = 0;
  std::vector<Tile> tiles;

  Index at(Index y, Index x) const { return y * across + x; }
  Index middle() const { return at((down - 1) / 2, (across - 1) / 2); }
  /// Steps from the middle, diagonal ones included.
  Index ring(Index tile) const;
  /// The neighbour one ring further in; the middle itself has none (-1).
  Index parent(Index tile) const;
};

/// Their sizes are multiples of 8, unless the field is smaller. Throws InvalidArgument where the
/// field is empty.
UDV_EXPORT TileGrid tile_grid(Index rows, Index cols, const TileOptions& options);

/// What tile t was multiplied by: gain exp(i (phase + tilt . (r - middle of the tile))).
struct TileFactor {
  double phase = 0;
  double down = 0, right = 0;  ///< tilts, radians per pixel of the joined image
  double gain = 1;
};

/// How well neighbours agree in what they share.
struct Seams {
  std::vector<TileFactor> factors;
  double bend = 0;      ///< all tiles were multiplied by exp(i bend / 2 |r - middle|^2) before
  double mismatch = 0;  ///< |x_a - x_b| / |x| over all overlaps, after the factors
};

/// Joins images of tiles, `upsampling` pixels for each pixel of the field and direction. Phases,
/// tilts and gains of tiles are those that fit best in the overlaps, all together: first a plane
/// for the quotient of each pair, then least squares over all pairs. The light of an LED is a
/// spherical wave: tiles may have a curvature in common, which images hardly tell, but tilts of
/// neighbours do that grow with their distance. Tiles fade into each other;
/// the outermost `cut` pixels of a tile count only where there is nothing else. Empty images are
/// left out.
UDV_EXPORT RowMatrix<std::complex<float>> join_tiles(
    const TileGrid& grid, const std::vector<const RowMatrix<std::complex<float>>*>& images,
    Index upsampling, Index cut, Seams& seams);

}  // namespace udv

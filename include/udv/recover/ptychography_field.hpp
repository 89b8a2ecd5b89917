// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/image_store.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/tiles.hpp"

namespace udv {

/// Images of a whole field and where their light comes from.
struct UDV_EXPORT PtychographyField {
  ImageStack images;                         ///< without values where `stored` has them
  std::shared_ptr<const ImageStore> stored;  ///< too many for memory; nullptr: they are in `images`
  Optics optics;                             ///< seen from the middle of the field
  std::vector<GridPoint> leds;               ///< one per image
  std::vector<Index> numbers;  ///< of the images in the data set, from 0; empty: 0, 1, 2, ...
  bool drop_bad = true;
  bool smallest_upsampling = false;       ///< instead of that of the optics, see calibrate_field()
  RowMatrix<std::complex<double>> pupil;  ///< a known one of the size of the images; may be empty
  std::vector<bool> mask;                 ///< pixels that say nothing, row by row; empty: none
  std::vector<std::string> warnings;      ///< of who has read the images
  std::string source;                     ///< file and variable, for messages; may be empty

  Index measurements() const { return images.images * images.rows * images.cols; }
  ImageStack part(const Tile& tile) const;            ///< of all images
  ImageStack image(Index place) const;                ///< one of them
  std::vector<Index> masked(const Tile& tile) const;  ///< pixels of it that say nothing, from 0
};

/// How read_ptychography_field() reads.
struct PtychographyReading {
  bool drop_bad = true;
  Calibration calibration = Calibration::kOff;
  std::filesystem::path mask;  ///< a picture or array of pixels not to use; empty: none
  /// Images that take more bytes than this, 8 a pixel, wait on disk for their tiles.
  double most_in_memory = 512.0 * 1024 * 1024;
  std::function<bool()> stopped = {};  ///< asked while the geometry is calibrated, see calibrate()
};

/// As read_ptychography(), not yet checked image by image and for use in tiles.
UDV_EXPORT PtychographyField read_ptychography_field(const std::filesystem::path& data_path,
                                                     const std::filesystem::path& setup_path,
                                                     const PtychographyReading& reading = {});

/// calibrate() with the middle of the field, whose optics and warnings it changes; kOff: no change
/// but for the smallest upsampling that holds all windows, where that is wanted.
UDV_EXPORT void calibrate_field(PtychographyField& field, Calibration mode,
                                const std::function<bool()>& stopped = {});

/// Optics as a place of the sample sees them that lies x_m to the right of and y_m below the middle
/// of the field: the LEDs are moved the other way.
UDV_EXPORT Optics optics_at(Optics optics, double x_m, double y_m);

/// The light of an LED is a spherical wave: over a field of view it has the phase c / 2 |r|^2 about
/// its middle, beside a tilt, r in pixels of the recovered image. Returns c = 2 pi pixel^2 /
/// (wavelength (H + t / n)), for small angles.
UDV_EXPORT double wave_curvature(const Optics& optics);

/// The same data set without tiles, checked as by ptychography_data().
UDV_EXPORT PtychographyData data_of(const PtychographyField& field);
/// That of one tile, with the LEDs as it sees them.
UDV_EXPORT PtychographyData data_of(const PtychographyField& field, const Tile& tile);

struct UDV_EXPORT FieldOptions {
  PtychographyOptions image;  ///< of each tile
  TileOptions tiles;
  Index held_out = 0;  ///< images of each tile that are predicted instead of used
};

/// What came out of one tile.
struct TileRecovery {
  Tile tile;
  bool done = false;
  RowMatrix<std::complex<float>> image;      ///< of no fixed phase
  PtychographyStart pupil;                   ///< for neighbours
  Vector<float> gains, backgrounds;          ///< one per image of the field; NaN: not used here
  double error_square = 0, data_square = 0;  ///< of amplitudes, on the images used
  double held_square = 0, held_scaled = 0, held_data = 0;  ///< the same of images held out
  Index iterations = 0;
  bool by_itself = false;  ///< not from its neighbour's pupil
  std::string failed;      ///< why it cannot be recovered; empty: it can
  std::vector<std::string> warnings;
};

struct FieldRecovery {
  TileGrid grid;
  std::vector<TileRecovery> tiles;       ///< in the order of the grid
  RowMatrix<std::complex<float>> image;  ///< of the field; 0 where no tile is done
  Seams seams;
  Verdict verdict = Verdict::kContinue;
  double seconds = 0;
  Index iterations = 0;
  std::vector<IterationRecord> history;  ///< one record per tile

  Index done() const;
  double amplitude_residual() const;  ///< relative, over all tiles
  double held_out_residual() const;
  double held_out_scaled() const;
};

/// Recovers a large field tile by tile, from its middle outwards. A tile has the LEDs where it sees
/// them and starts with the pupil of a neighbour that is done. Threads share the tiles of a ring;
/// the same bits for any number of threads. A saved state holds the tiles that are done. A tile
/// without light, say, is left out; where all are, throws InvalidArgument.
UDV_EXPORT FieldRecovery recover_field(const PtychographyField& field, const FieldOptions& options,
                                       const Hooks& hooks = {});

}  // namespace udv

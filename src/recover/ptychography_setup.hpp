// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/toml_section.hpp"
#include "udv/recover/ptychography_data.hpp"

namespace udv::detail {

using io::detail::Quantity;

/// Usual: first for pages, pictures and .npy files, last for named arrays.
enum class ImageAxis { kUsual, kFirst, kLast };
enum class LedOrder { kSpiral, kRaster, kColumns, kList };
/// What places of LEDs are given in: pitches of the grid, mm, or NA as seen from the sample.
enum class LedUnit { kPitch, kMillimetre, kNa };

/// Pixels row .. row + rows - 1 and col .. col + cols - 1, 0-based.
struct Region {
  Index row = 0;
  Index col = 0;
  Index rows = 0;
  Index cols = 0;
};

/// Which LED lit which image, and which images are used.
struct LedSetup {
  std::string where;  ///< "file:line: [leds]"
  LedOrder order = LedOrder::kSpiral;
  Index rows = 0;  ///< of a raster
  Index cols = 0;
  std::vector<GridPoint> list;  ///< of kList, in units of `unit`
  LedUnit unit = LedUnit::kPitch;
  std::optional<Index> count;    ///< the first images alone
  std::optional<double> max_na;  ///< LEDs up to this NA alone
  std::vector<Index> skip;       ///< numbers of LEDs that are left out, from 1
};

struct DataSetup {
  std::string where;                ///< "file:line: [data]"
  std::string variable = "images";  ///< the images, an array of three axes
  ImageKind kind = ImageKind::kIntensity;
  ImageAxis image_axis = ImageAxis::kUsual;  ///< which axis counts the images
  std::optional<Region> roi;
  std::optional<std::pair<Index, Index>> crop;  ///< rows, cols about the middle
};

/// Of the raster of LEDs, as Optics has it.
struct Orientation {
  bool mirrored = false;
  bool swapped = false;
};

/// The optics, LEDs and images of a Fourier ptychographic data set, as its setup file has them.
struct PtychographySetup {
  std::map<std::string, Quantity> optics;  ///< by key
  int upsampling = 0;                      ///< 0: the smallest that holds all images
  Orientation orientation;
  std::string pupil_variable;  ///< where not empty: a known pupil, unless that is all zero
  LedSetup leds;
  DataSetup data;
};

/// Reads the TOML file that examples/bloodsmear.toml documents. Throws IoError with file and line.
PtychographySetup read_setup(const std::string& path);

/// The number that a variable of the data file holds.
using ReadNumber = std::function<double(const std::string& variable)>;

/// All quantities in the units of Optics; those that name a variable are read. Throws IoError
/// naming file, line and key where a value makes no sense.
Optics resolve_optics(const PtychographySetup& setup, const ReadNumber& read);

/// Places of the LEDs of the first `count` images (all, without a count), in pitches. Throws
/// IoError where the order has too few LEDs, or the data file too few images.
std::vector<GridPoint> led_places(const LedSetup& leds, const Optics& optics, Index num_images);

/// Images that are used, 0-based: not skipped and up to max_na.
std::vector<Index> used_images(const LedSetup& leds, const std::vector<Illumination>& lights);

/// The part of images of rows x cols pixels that is used. Throws IoError where it leaves them.
Region image_region(const DataSetup& data, Index rows, Index cols);

}  // namespace udv::detail

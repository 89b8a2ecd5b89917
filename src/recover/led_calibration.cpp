// SPDX-License-Identifier: MIT
// Which geometry is used: that of the setup or that of the images.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "udv/core/error.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace {

// Differences that circles can tell.
constexpr double kDegrees = 0.6, kDistance = 0.03, kMillimetres = 0.2, kScore = 0.01;
constexpr Index kSide = 64;         // of the images in short reconstructions
constexpr double kLargestNa = 1.7;  // of their LEDs, as a share of the objective's
constexpr Index kPredicted = 4;     // images that are not used there
constexpr double kDefocus = 1.5;    // radians at the rim that matter
constexpr double kBadScore = 0.5;   // share of the best score that is clearly wrong

double shorter(double degrees) {
  return std::remainder(degrees, 360);
}

bool differ(const Optics& one, const Optics& other) {
  return one.mirrored != other.mirrored || one.swapped != other.swapped ||
         std::abs(shorter(one.rotation_degrees - other.rotation_degrees)) > kDegrees ||
         std::abs(one.led_distance_mm / other.led_distance_mm - 1) > kDistance ||
         std::hypot(one.x_offset_mm - other.x_offset_mm, one.y_offset_mm - other.y_offset_mm) >
             kMillimetres;
}

// The middle of images that LEDs not too far out have lit.
struct CentralCrop {
  ImageStack images;
  std::vector<GridPoint> leds;
};

CentralCrop central_crop_of(const ImageStack& images, const std::vector<GridPoint>& leds,
                            const Optics& optics) {
  CentralCrop crop;
  const Index side = std::min({images.rows, images.cols, kSide});
  const Index top = (images.rows - side) / 2, left = (images.cols - side) / 2;
  crop.images = {0, side, side, images.kind, {}};
  const auto lights = illuminations(optics, leds);
  for (Index l = 0; l < images.images; ++l) {
    const auto at = static_cast<size_t>(l);
    if (lights[at].na > kLargestNa * optics.numerical_aperture) continue;
    crop.leds.push_back(leds[at]);
    ++crop.images.images;
    for (Index r = 0; r < side; ++r) {
      const auto row = images.values.begin() + (l * images.rows + top + r) * images.cols + left;
      crop.images.values.insert(crop.images.values.end(), row, row + side);
    }
  }
  return crop;
}

// The smallest upsampling that holds all windows.
int enough_for(Optics optics, Index side, const std::vector<Illumination>& lights) {
  for (optics.upsampling = 1; optics.upsampling < 64; ++optics.upsampling) try {
      spectrum_windows(optics, side, side, lights);
      return optics.upsampling;
    } catch (const InvalidArgument&) {
    }
  return optics.upsampling;
}

// How badly images that were not used are predicted; 1 where that cannot be told.
double prediction_residual(const CentralCrop& crop, Optics optics, std::uint64_t seed) {
  const auto lights = illuminations(optics, crop.leds);
  optics.upsampling = enough_for(optics, crop.images.rows, lights);
  try {
    const auto data = ptychography_data(crop.images, optics, lights);
    const Index most = static_cast<Index>(data.used.size()) / 8;
    const auto split = split_images(data, std::min(kPredicted, most), seed);
    if (!split.held_out.op) return 1;
    PtychographyOptions options;
    options.dynamics = false;
    options.pupil_rounds = 1;
    return held_out_residual(split.held_out, recover_image(split.used, options)).scaled;
  } catch (const InvalidArgument&) {
    return 1;
  }
}

std::string number(double value) {
  return message(std::round(1000 * value) / 1000);
}

void choose_geometry(CalibratedOptics& chosen, const CentralCrop& crop, Calibration mode,
                     std::uint64_t seed) {
  const LedGeometry& seen = chosen.geometry;
  const Optics setup = chosen.optics;
  if (!seen.is_seen() || !differ(seen.optics, setup) || seen.score < seen.setup_score + kScore)
    return;
  const std::string both = message("the setup says ", geometry_text(setup), "; the images show ",
                                   geometry_text(seen.optics));
  const bool clearly = seen.setup_score < kBadScore * seen.score;
  if (mode == Calibration::kOn || clearly) {
    chosen.optics = seen.optics;
    chosen.warnings.push_back(both + ", which is used");
    return;
  }
  const double of_setup = prediction_residual(crop, setup, seed);
  const double of_images = prediction_residual(crop, seen.optics, seed);
  const bool better = of_images < of_setup;
  if (better) chosen.optics = seen.optics;
  chosen.warnings.push_back(message(both, better ? ", which is used" : "; the setup is used",
                                    ": it predicts images to ",
                                    number(std::min(of_images, of_setup)), ", the other to ",
                                    number(std::max(of_images, of_setup))));
}

// A wrong sign of the defocus is a start that no fit of the pupil leaves; none at all is a safe
// one.
void choose_defocus(CalibratedOptics& chosen, const CentralCrop& crop, std::uint64_t seed) {
  const double given = chosen.optics.defocus_m, na = chosen.optics.numerical_aperture;
  if (std::numbers::pi * std::abs(given) * na * na / chosen.optics.wavelength_m < kDefocus) return;
  double best = given, lowest = prediction_residual(crop, chosen.optics, seed);
  const double of_setup = lowest;
  for (const double other : {-given, 0.0}) {
    Optics optics = chosen.optics;
    optics.defocus_m = other;
    const double residual = prediction_residual(crop, optics, seed);
    // A tie is no reason to leave the setup.
    if (residual >= 0.95 * lowest) continue;
    lowest = residual;
    best = other;
  }
  if (best == given) return;
  chosen.optics.defocus_m = best;
  chosen.warnings.push_back(message(
      "the setup says a defocus of ", number(1e6 * given), " um; one of ", number(1e6 * best),
      " um predicts images to ", number(lowest), " instead of ", number(of_setup), " and is used"));
}

}  // namespace

std::string geometry_text(const Optics& optics) {
  std::string text;
  if (optics.mirrored) text += "mirrored, ";
  if (optics.swapped) text += "x and y swapped, ";
  return message(text, "rotation ", number(shorter(optics.rotation_degrees)), " degrees, LEDs at ",
                 number(optics.led_distance_mm), " mm, offset (", number(optics.x_offset_mm), ", ",
                 number(optics.y_offset_mm), ") mm");
}

CalibratedOptics calibrate(const ImageStack& images, const Optics& setup,
                           const std::vector<GridPoint>& leds, Calibration mode,
                           std::uint64_t seed) {
  CalibratedOptics chosen{setup, {setup, 0, 0, 0}, {}};
  if (mode == Calibration::kOff) return chosen;
  chosen.geometry = find_led_geometry(images, setup, leds);
  const CentralCrop crop = central_crop_of(images, leds, setup);
  choose_geometry(chosen, crop, mode, seed);
  choose_defocus(chosen, crop, seed);
  return chosen;
}

}  // namespace udv

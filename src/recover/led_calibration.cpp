// SPDX-License-Identifier: MIT
// Which geometry is used: that of the setup or that of the images.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "recover/geometry_simplex.hpp"
#include "udv/core/error.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace {

// Differences that circles can tell.
constexpr double kDegrees = 0.6, kDistance = 0.03, kMillimetres = 0.2, kScore = 0.01;
constexpr Index kSide = 64;           // of the images in short reconstructions
constexpr double kLargestNa = 1.7;    // of their LEDs, as a share of the objective's
constexpr Index kPredicted = 4;       // images that are not used there
constexpr double kDefocus = 1.5;      // radians at the rim that matter
constexpr double kBadScore = 0.5;     // share of the best score that is clearly wrong
constexpr Index kFewestCompared = 8;  // images that two geometries are compared by
constexpr double kRefiningNa = 1.6;   // of LEDs that refine, as a share of the objective's
constexpr double kRoom = 0.06;        // more distance, for the size of the spectrum
constexpr double kBetter = 0.97;      // residual that is a reason to look further
constexpr int kRefiningSteps = 24;

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

PtychographyOptions short_fit() {
  PtychographyOptions options;
  options.dynamics = options.examine = false;
  options.pupil_rounds = 1;
  return options;
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
    return held_out_residual(split.held_out, recover_image(split.used, short_fit())).scaled;
  } catch (const InvalidArgument&) {
    return 1;
  }
}

std::string number(double value) {
  return message(std::round(1000 * value) / 1000);
}

// Images that a geometry has a use for: not on the rim, and as bright as their place says. None
// where the geometry cannot be.
std::vector<bool> useful_images(const CentralCrop& crop, Optics optics) {
  const auto lights = illuminations(optics, crop.leds);
  optics.upsampling = enough_for(optics, crop.images.rows, lights);
  std::vector<bool> useful(crop.leds.size());
  try {
    const auto data = ptychography_data(crop.images, optics, lights);
    for (const Index l : data.used) useful[static_cast<size_t>(l)] = true;
  } catch (const InvalidArgument&) {
  }
  return useful;
}

double useless_share(const std::vector<bool>& useful) {
  return static_cast<double>(std::count(useful.begin(), useful.end(), false)) /
         static_cast<double>(std::max<size_t>(1, useful.size()));
}

CentralCrop chosen_images(const CentralCrop& crop, const std::vector<bool>& chosen) {
  const Index pixels = crop.images.rows * crop.images.cols;
  CentralCrop part{{0, crop.images.rows, crop.images.cols, crop.images.kind, {}}, {}};
  for (size_t l = 0; l < chosen.size(); ++l) {
    if (!chosen[l]) continue;
    const auto first = crop.images.values.begin() + static_cast<Index>(l) * pixels;
    part.images.values.insert(part.images.values.end(), first, first + pixels);
    part.leds.push_back(crop.leds[l]);
    ++part.images.images;
  }
  return part;
}

// Useful ones of LEDs not far from the objective's NA.
CentralCrop near_images(const CentralCrop& crop, const Optics& optics) {
  std::vector<bool> near = useful_images(crop, optics);
  const auto lights = illuminations(optics, crop.leds);
  for (size_t l = 0; l < near.size(); ++l)
    near[l] = near[l] && lights[l].na < kRefiningNa * optics.numerical_aperture;
  return chosen_images(crop, near);
}

// How badly a short reconstruction explains all images of a part; 1 where the geometry cannot be.
double explained_residual(const CentralCrop& part, const Optics& optics) {
  PtychographyOptions options = short_fit();
  options.led_gains = false;
  options.noise = PhotonNoise::kGaussian;
  try {
    const auto data =
        ptychography_data(part.images, optics, illuminations(optics, part.leds), false);
    return recover_image(split_images(data).used, options).amplitude_residual;
  } catch (const InvalidArgument&) {
    return 1;
  }
}

// What setup and images leave over in the same images, those that both have a use for. Where there
// are too few of them, what they have no use for.
struct Comparison {
  double of_setup = 1, of_images = 1;
};

Comparison compare(const CentralCrop& crop, Optics setup, Optics seen) {
  const std::vector<bool> by_setup = useful_images(crop, setup),
                          by_images = useful_images(crop, seen);
  std::vector<bool> both(by_setup.size());
  for (size_t l = 0; l < both.size(); ++l) both[l] = by_setup[l] && by_images[l];
  const CentralCrop part = chosen_images(crop, both);
  if (part.images.images < kFewestCompared)
    return {useless_share(by_setup), useless_share(by_images)};
  setup.upsampling = seen.upsampling =
      std::max(enough_for(setup, part.images.rows, illuminations(setup, part.leds)),
               enough_for(seen, part.images.rows, illuminations(seen, part.leds)));
  return {explained_residual(part, setup), explained_residual(part, seen)};
}

// Circles of strongly scattering samples are off by some percent; what explains all images best is
// not. Each residual is that of a reconstruction of its own, from the same images throughout. Where
// no neighbouring geometry is better the circles were right.
Optics refined(const CentralCrop& crop, const Optics& seen) {
  const CentralCrop part = near_images(crop, seen);
  if (part.images.images < kFewestCompared) return seen;
  const Optics wide = changed(seen, {0, -kRoom, 0, 0});  // for windows further out
  Optics optics = seen;
  optics.upsampling = enough_for(wide, part.images.rows, illuminations(wide, part.leds));
  const auto explained = [&](const GeometryChange& change) {
    return explained_residual(part, changed(optics, change));
  };
  const double residual = explained(GeometryChange::Zero());
  const GeometryChange sizes(1, kRoom / 2, 0.4, 0.4);
  GeometryChange best = GeometryChange::Zero();
  double lowest = residual;
  for (int i = 0; i < 8; ++i) {
    GeometryChange near = GeometryChange::Zero();
    near(i / 2) = i % 2 == 0 ? sizes(i / 2) : -sizes(i / 2);
    if (const double other = explained(near); other < lowest) {
      lowest = other;
      best = near;
    }
  }
  if (lowest > kBetter * residual) return seen;
  best = climb([&](const GeometryChange& change) { return -explained(change); }, best, sizes / 2,
               kRefiningSteps);
  return changed(seen, best);
}

void choose_geometry(CalibratedOptics& chosen, const CentralCrop& crop, Calibration mode) {
  const LedGeometry& seen = chosen.geometry;
  const Optics setup = chosen.optics;
  if (!seen.is_seen() || !differ(seen.optics, setup) || seen.score < seen.setup_score + kScore)
    return;
  const Optics best = refined(crop, seen.optics);
  const bool clearly = mode == Calibration::kOn || seen.setup_score < kBadScore * seen.score;
  const Comparison found = clearly ? Comparison() : compare(crop, setup, best);
  const bool taken = clearly || found.of_images < found.of_setup;
  if (taken) chosen.optics = best;
  std::string text =
      message("the setup says ", geometry_text(setup), "; the images show ", geometry_text(best),
              taken ? ", which is used" : "; the setup is used");
  if (!clearly)
    text += message(": it explains images to ", number(std::min(found.of_images, found.of_setup)),
                    ", the other to ", number(std::max(found.of_images, found.of_setup)));
  chosen.warnings.push_back(text);
}

void warn_of_aperture(CalibratedOptics& chosen) {
  const double seen = chosen.geometry.numerical_aperture;
  if (!chosen.geometry.is_seen() || seen == chosen.optics.numerical_aperture) return;
  chosen.warnings.push_back(message("the setup says an NA of ",
                                    number(chosen.optics.numerical_aperture),
                                    "; the spectra of bright images end as with one of about ",
                                    number(seen), ": check the NA and the pixel size"));
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
  CalibratedOptics chosen{setup, {setup, 0, 0, 0, setup.numerical_aperture}, {}};
  if (mode == Calibration::kOff) return chosen;
  chosen.geometry = find_led_geometry(images, setup, leds);
  warn_of_aperture(chosen);
  const CentralCrop crop = central_crop_of(images, leds, setup);
  choose_geometry(chosen, crop, mode);
  choose_defocus(chosen, crop, seed);
  return chosen;
}

}  // namespace udv

// SPDX-License-Identifier: MIT
// Which geometry is used: that of the setup or that of the images.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/require.hpp"
#include "recover/geometry_simplex.hpp"
#include "udv/core/error.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace {

// Differences that circles can tell.
constexpr double kDegrees = 0.6, kDistance = 0.03, kScore = 0.01;
constexpr double kOffset = 1 / 450.0;  // of the LEDs, as a share of their distance
constexpr Index kSide = 64;            // of the images in short reconstructions
constexpr double kLargestNa = 1.7;     // of their LEDs, as a share of the objective's
constexpr double kDefocus = 1.5;       // radians at the rim that matter
constexpr double kDefocusStep = 2.2;   // radians at the rim
constexpr int kMostDefocusSteps = 8;
constexpr double kClearlyBetter = 0.95;  // residual that is a reason to leave the setup
constexpr double kBadScore = 0.5;        // share of the best score that is clearly wrong
constexpr Index kFewestCompared = 8;     // images that two geometries are compared by
constexpr double kRefiningNa = 1.6;      // of LEDs that refine, as a share of the objective's
constexpr double kRoom = 0.06;           // more distance, for the size of the spectrum
constexpr double kBetter = 0.97;         // residual that is a reason to look further
constexpr int kRefiningSteps = 24;
constexpr double kApertureStep = 0.05;  // share of the setup's NA
constexpr int kMostApertureSteps = 4;
constexpr double kBetterAperture = 0.9;  // residual that is a reason to take another NA
constexpr double kFaintSteps = 3;        // times larger steps where circles do not tell

double shorter(double degrees) {
  return std::remainder(degrees, 360);
}

bool differ(const Optics& one, const Optics& other) {
  return one.mirrored != other.mirrored || one.swapped != other.swapped ||
         std::abs(shorter(one.rotation_degrees - other.rotation_degrees)) > kDegrees ||
         std::abs(one.led_distance_mm / other.led_distance_mm - 1) > kDistance ||
         std::hypot(one.x_offset_mm - other.x_offset_mm, one.y_offset_mm - other.y_offset_mm) >
             kOffset * other.led_distance_mm;
}

// The middle of images that LEDs not too far out have lit.
struct CentralCrop {
  ImageStack images;
  std::vector<GridPoint> leds;
  RowMatrix<std::complex<double>> pupil;  // a known one; may be empty
  std::function<bool()> stopped;          // asked before each reconstruction
};

CentralCrop central_crop_of(const ImageStack& images, const std::vector<GridPoint>& leds,
                            const Optics& optics, const CalibrationAids& aids) {
  CentralCrop crop;
  crop.stopped = aids.stopped;
  const Index side = std::min({images.rows, images.cols, kSide});
  const Index top = (images.rows - side) / 2, left = (images.cols - side) / 2;
  crop.images = {0, side, side, images.kind, {}};
  if (aids.pupil.size() > 0) crop.pupil = resampled_pupil(aids.pupil, side, side);
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

int enough_for(const CentralCrop& crop, const Optics& optics) {
  return enough_upsampling(optics, crop.images.rows, crop.images.cols,
                           illuminations(optics, crop.leds));
}

std::string number(double value) {
  return message(std::round(1000 * value) / 1000);
}

// With two digits that count.
std::string residual_text(double value) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(value, 1e-12))) - 1);
  return message(std::round(value / unit) * unit);
}

// Images that a geometry has a use for: not on the rim, and as bright as their place says. None
// where the geometry cannot be.
std::vector<bool> useful_images(const CentralCrop& crop, Optics optics) {
  const auto lights = illuminations(optics, crop.leds);
  optics.upsampling = enough_for(crop, optics);
  std::vector<bool> useful(crop.leds.size());
  try {
    const auto data = ptychography_data(crop.images, optics, lights, true, crop.pupil);
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
  CentralCrop part{
      {0, crop.images.rows, crop.images.cols, crop.images.kind, {}}, {}, crop.pupil, crop.stopped};
  for (size_t l = 0; l < chosen.size(); ++l) {
    if (!chosen[l]) continue;
    const auto first = crop.images.values.begin() + static_cast<Index>(l) * pixels;
    part.images.values.insert(part.images.values.end(), first, first + pixels);
    part.leds.push_back(crop.leds[l]);
    ++part.images.images;
  }
  return part;
}

// Useful ones of LEDs up to a share of the objective's NA.
CentralCrop near_images(const CentralCrop& crop, const Optics& optics, double share) {
  std::vector<bool> near = useful_images(crop, optics);
  const auto lights = illuminations(optics, crop.leds);
  for (size_t l = 0; l < near.size(); ++l)
    near[l] = near[l] && lights[l].na < share * optics.numerical_aperture;
  return chosen_images(crop, near);
}

// How badly a short reconstruction explains all images of a part; 1 where the geometry cannot be
// or nobody waits for it.
double explained_residual(const CentralCrop& part, const Optics& optics) {
  if (part.stopped && part.stopped()) return 1;
  PtychographyOptions options;
  options.dynamics = options.examine = options.led_gains = options.hold_slow_phases = false;
  options.pupil_rounds = 1;
  options.gain_rounds = 0;
  options.noise = PhotonNoise::kGaussian;
  try {
    const auto data =
        ptychography_data(part.images, optics, illuminations(optics, part.leds), false, part.pupil);
    PtychographyImages used = split_images(data).used;
    if (used.exact) used.op = std::exchange(used.exact, nullptr);
    return recover_image(used, options).amplitude_residual;
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
  setup.upsampling = seen.upsampling = std::max(enough_for(part, setup), enough_for(part, seen));
  return {explained_residual(part, setup), explained_residual(part, seen)};
}

// Circles of strongly scattering samples are off by some percent; what explains all images best is
// not. Each residual is that of a reconstruction of its own, from the same images throughout. Where
// no neighbouring geometry is better the circles were right.
Optics refined(const CentralCrop& crop, const Optics& seen, double steps) {
  const CentralCrop part = near_images(crop, seen, kRefiningNa);
  if (part.images.images < kFewestCompared) return seen;
  const Optics wide = changed(seen, {0, -steps * kRoom, 0, 0});  // for windows further out
  Optics optics = seen;
  optics.upsampling = enough_for(part, wide);
  const auto explained = [&](const GeometryChange& change) {
    return explained_residual(part, changed(optics, change));
  };
  const double residual = explained(GeometryChange::Zero());
  const double offset = 2 * kOffset * seen.led_distance_mm;
  const GeometryChange sizes = steps * GeometryChange(1, kRoom / 2, offset, offset);
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

// Why the geometry was not checked, or not everywhere.
std::string unseen_text(const ImageStack& images, const LedGeometry& geometry) {
  const std::string start = "the geometry of the LEDs was not checked: ";
  if (std::min(images.rows, images.cols) < kSmallestCalibrationSide)
    return message(start, "images of ", images.rows, " x ", images.cols, " pixels, at least ",
                   kSmallestCalibrationSide, " a side expected");
  if (geometry.bright_images < kFewestBright)
    return message(start, geometry.bright_images, " bright images, at least ", kFewestBright,
                   " expected");
  return message("the spectra of bright images show no circles (correlation ",
                 number(std::max(geometry.score, geometry.setup_score)),
                 "): the geometry of the LEDs was checked near that of the setup alone");
}

// Another geometry may need a larger spectrum than that of a setup which had room enough.
void make_room(CalibratedOptics& chosen, const ImageStack& images, const Optics& setup,
               const std::vector<GridPoint>& leds) {
  const auto needed = [&](const Optics& optics) {
    return enough_upsampling(optics, images.rows, images.cols, illuminations(optics, leds));
  };
  if (needed(setup) > setup.upsampling) return;  // an error of the setup
  chosen.optics.upsampling = std::max(setup.upsampling, needed(chosen.optics));
  if (chosen.optics.upsampling > setup.upsampling)
    chosen.warnings.push_back(message("this geometry needs upsampling ", chosen.optics.upsampling,
                                      " instead of ", setup.upsampling));
}

// Two geometries that the same images decide about, and how.
struct Decision {
  Optics images;  // what they show
  Comparison found;
  bool clear = false;  // without a comparison
  bool taken() const { return clear || found.of_images < found.of_setup; }
};

// Circles may mislead, or be too faint, and the setup be wrong all the same.
Decision decide(const CentralCrop& crop, const Optics& setup, const LedGeometry& seen,
                Calibration mode) {
  Decision decision;
  if (seen.is_seen()) {
    decision.images = refined(crop, seen.optics, 1);
    decision.clear = mode == Calibration::kOn || seen.setup_score < kBadScore * seen.score;
    if (!decision.clear) decision.found = compare(crop, setup, decision.images);
    if (decision.taken()) return decision;
  }
  const Optics near = refined(crop, setup, kFaintSteps);
  if (seen.is_seen() && !differ(near, setup)) return decision;
  return {near, compare(crop, setup, near)};
}

void choose_geometry(CalibratedOptics& chosen, const CentralCrop& crop, Calibration mode) {
  const LedGeometry& seen = chosen.geometry;
  const Optics setup = chosen.optics;
  if (seen.bright_images < kFewestBright) return;
  if (seen.is_seen() && (!differ(seen.optics, setup) || seen.score < seen.setup_score + kScore))
    return;
  const Decision decision = decide(crop, setup, seen, mode);
  if (!decision.clear && crop.stopped && crop.stopped()) {
    chosen.warnings.push_back("the check of the geometry was stopped: the setup is used");
    return;
  }
  if (!differ(decision.images, setup)) return;
  if (decision.taken()) chosen.optics = decision.images;
  std::string text = message("the setup says ", geometry_text(setup), "; the images show ",
                             geometry_text(decision.images),
                             decision.taken() ? ", which is used" : "; the setup is used");
  const auto [of_setup, of_images] = decision.found;
  if (!decision.clear)
    text += message(": it explains images to ", residual_text(std::min(of_images, of_setup)),
                    ", the other to ", residual_text(std::max(of_images, of_setup)));
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

// The NA that explains the same images best: on both sides of the setup's, and on from there as
// long as that is better. Residuals are lowest at the right one, and clearly so.
void choose_aperture(CalibratedOptics& chosen, const CentralCrop& crop) {
  const Optics setup = chosen.optics;
  const CentralCrop part = near_images(crop, setup, kRefiningNa);
  if (part.images.images < kFewestCompared) return;
  double best = 1, lowest = 1;
  const auto is_better = [&](double factor) {
    Optics optics = setup;
    optics.numerical_aperture *= std::max(factor, 1.0);
    if (optics.numerical_aperture >= 1) return false;
    optics.upsampling = enough_for(part, optics);
    optics.numerical_aperture = factor * setup.numerical_aperture;
    const double residual = explained_residual(part, optics);
    if (residual >= lowest) return false;
    lowest = residual;
    best = factor;
    return true;
  };
  is_better(1);
  const double of_setup = lowest;
  for (const double step : {-kApertureStep, kApertureStep})
    for (int i = 1; i <= kMostApertureSteps && is_better(1 + i * step);) ++i;
  if (lowest > kBetter * of_setup) return;
  for (const double step : {kApertureStep / 2, kApertureStep / 4}) {
    const double middle = best;
    for (const double side : {-step, step}) is_better(middle + side);
  }
  if (lowest > kBetterAperture * of_setup) return;
  chosen.optics.numerical_aperture *= best;
  chosen.warnings.push_back(message("the setup says an NA of ", number(setup.numerical_aperture),
                                    "; one of ", number(chosen.optics.numerical_aperture),
                                    " explains images to ", residual_text(lowest), " instead of ",
                                    residual_text(of_setup), " and is used"));
}

// A wrong defocus is a start that no fit of the pupil leaves. Tried are the setup's, the other
// sign, none at all, and from the best of them on in steps, as long as bright images are explained
// better.
void choose_defocus(CalibratedOptics& chosen, const CentralCrop& crop) {
  const double given = chosen.optics.defocus_m, na = chosen.optics.numerical_aperture;
  const double per_radian = chosen.optics.wavelength_m / (std::numbers::pi * na * na);
  const CentralCrop part = near_images(crop, chosen.optics, 1);
  if (part.images.images < kFewestCompared) return;
  double best = given, lowest = 1;
  const auto is_better = [&](double defocus) {
    Optics optics = chosen.optics;
    optics.defocus_m = defocus;
    optics.upsampling = enough_for(part, optics);
    const double residual = explained_residual(part, optics);
    // A tie is no reason to leave the setup.
    if (residual >= kClearlyBetter * lowest) return false;
    lowest = residual;
    best = defocus;
    return true;
  };
  is_better(given);
  const double of_setup = lowest;
  if (std::abs(given) > kDefocus * per_radian)
    for (const double other : {-given, 0.0}) is_better(other);
  for (const double step : {kDefocusStep * per_radian, -kDefocusStep * per_radian})
    for (int i = 0; i < kMostDefocusSteps && is_better(best + step);) ++i;
  if (best == given) return;
  chosen.optics.defocus_m = best;
  chosen.warnings.push_back(message("the setup says a defocus of ", number(1e6 * given),
                                    " um; one of ", number(1e6 * best),
                                    " um explains bright images to ", residual_text(lowest),
                                    " instead of ", residual_text(of_setup), " and is used"));
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
                           const CalibrationAids& aids) {
  CalibratedOptics chosen{setup, {setup, 0, 0, 0, setup.numerical_aperture}, {}};
  if (mode == Calibration::kOff) return chosen;
  chosen.geometry = find_led_geometry(images, setup, leds);
  if (!chosen.geometry.is_seen()) chosen.warnings.push_back(unseen_text(images, chosen.geometry));
  const CentralCrop crop = central_crop_of(images, leds, setup, aids);
  choose_geometry(chosen, crop, mode);
  // A known pupil has its NA and its defocus in it.
  if (crop.pupil.size() == 0) {
    choose_aperture(chosen, crop);
    choose_defocus(chosen, crop);
  }
  if (chosen.optics.numerical_aperture == setup.numerical_aperture) warn_of_aperture(chosen);
  make_room(chosen, images, setup, leds);
  return chosen;
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/ptychography_data.hpp"

namespace udv {

/// Fewer bright images, or pixels a side, do not tell the places of LEDs.
inline constexpr Index kFewestBright = 5, kSmallestCalibrationSide = 48;

/// What bright images say of the places of their LEDs, without any knowledge of the sample. The
/// spectrum of a bright image is strong inside of two circles of the radius of the pupil, one about
/// the LED's frequency and one about its opposite. Therefore an inversion of all LEDs cannot be
/// seen.
struct LedGeometry {
  Optics optics;            ///< the setup's, with orientation, rotation, distance, offset as seen
  double setup_score = 0;   ///< correlation of spectra and circles, at most 1
  double score = 0;         ///< of the geometry found
  Index bright_images = 0;  ///< that were looked at
  double numerical_aperture = 0;  ///< the setup's, or one whose circles fit clearly better

  /// Whether the images show circles at all.
  bool is_seen() const { return bright_images >= kFewestBright && score >= 0.15; }
};

/// Pixels of a square in the middle of the images that are looked at, on each side; no more count.
inline constexpr Index kCalibrationSide = 128;

/// Spectra D_l = log |FFT((I / mean - 1) w)| of bright images, minus their mean over the images
/// and over frequencies, are correlated with discs about the frequencies of the LEDs. The largest
/// correlation among 4 orientations of the raster, rotations of -20 to 20 degrees and distances,
/// and then by the simplex method of Nelder and Mead (1965) over rotation, distance and offset. Hot
/// and dead pixels are filled from their neighbours before.
UDV_EXPORT LedGeometry find_led_geometry(const ImageStack& images, const Optics& setup,
                                         const std::vector<GridPoint>& leds);

/// "mirrored, rotated by 3.1 degrees, LEDs at 95 mm, offset (0.20, -1.00) mm"
UDV_EXPORT std::string geometry_text(const Optics& optics);

/// What else calibrate() may use.
struct CalibrationAids {
  RowMatrix<std::complex<double>> pupil = {};  ///< a known one; empty: unknown
  std::function<bool()> stopped = {};          ///< once true, what was found by then is taken
};

/// Optics to use, and what is to be said about them.
struct CalibratedOptics {
  Optics optics;
  LedGeometry geometry;
  std::vector<std::string> warnings;
};

/// Looks for the geometry and, where it differs from the setup's, compares both by short
/// reconstructions of the middle of the same images; so it does with another NA and other defocus
/// than the setup's, unless the pupil is known. kOff: the setup's at once.
UDV_EXPORT CalibratedOptics calibrate(const ImageStack& images, const Optics& setup,
                                      const std::vector<GridPoint>& leds, Calibration mode,
                                      const CalibrationAids& aids = {});

}  // namespace udv

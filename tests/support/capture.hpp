// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "udv/recover/ptychography_field.hpp"

/// Simulated captures of a Fourier ptychographic microscope: one generator, faults one by one.
namespace udv::testing {

/// What is wrong with a capture. The defaults are a clean one of an aberrated objective.
struct CaptureFaults {
  double aberration = 1;         ///< radians of astigmatism, coma and spherical aberration, each
  double background = 0;         ///< light that is not of the sample, as a share of a bright image
  int hot_pixels = 0;            ///< at the same place in all images, as bright as bright images
  int dead_pixels = 0;           ///< the same, without light
  double saturated_share = 0;    ///< of the pixels of bright images
  double counts = 0;             ///< photons of a pixel of a bright image; 0: no counting noise
  double brightness_spread = 0;  ///< of the LEDs, uniform in 1 -+ this
  double dark_exposure = 1;      ///< of dark images, in amplitude
  double rotation_degrees = 0;   ///< the truth minus what the setup says, here and below
  double distance_factor = 1;
  double x_offset_mm = 0, y_offset_mm = 0;
  bool mirrored = false, swapped = false;
  double defocus_m = 0;
};

/// Images, what the setup says of them, and the truth.
struct Capture {
  ImageStack images;
  Optics nominal;               ///< what the setup says
  Optics truth;                 ///< as the images were made
  std::vector<GridPoint> leds;  ///< as the setup has them
  /// Centred spectrum of the sample, as PtychographyOperator has it.
  Vector<std::complex<float>> spectrum;
  RowMatrix<std::complex<double>> pupil;  ///< of the objective, with its aberrations
  std::vector<Index> bad_pixels;          ///< hot and dead ones
};

inline constexpr Index kCaptureSize = 64;
inline constexpr int kCaptureUpsampling = 3;

/// A capture of 81 LEDs on a grid of 9 x 9 and 64 x 64 pixels, NA 0.1: blobs in amplitude and
/// phase. LEDs stand between the samples of the spectrum, as in reality.
Capture simulate_capture(const CaptureFaults& faults, std::uint64_t seed);

/// |found - truth| / |truth| over the samples of the spectrum that the images show, after scale,
/// phase, tilt and shift of the found one, none of which the images tell.
double capture_error(const Capture& capture, const PtychographyOperator<std::complex<float>>& op,
                     const Vector<std::complex<float>>& found);

/// A capture of a field of side x side pixels by 8 x 8 LEDs. The light of each one is a spherical
/// wave: angles differ from place to place, as in a real instrument. The sample goes on outside of
/// the field. What is wrong in `faults` with the geometry is not the setup's.
struct FieldCapture {
  PtychographyField field;
  RowMatrix<std::complex<float>> sample;  ///< of the field, at the resolution to recover
};
FieldCapture simulate_field(const CaptureFaults& faults, Index side, std::uint64_t seed);

/// How far a recovered field is from its sample, both without what the images do not show, after
/// one scale, phase, tilt and shift for all of it.
struct FieldErrors {
  double error = 0;   ///< |found - truth| / |truth|
  double seams = 0;   ///< the same where tiles meet
  double inside = 0;  ///< the same elsewhere
  /// Steps of the phase error from pixel to pixel, root mean square in radians: across the middle
  /// lines of overlaps, and everywhere.
  double steps_at_seams = 0, steps = 0;
};
FieldErrors field_errors(const FieldCapture& capture, const TileGrid& grid,
                         const RowMatrix<std::complex<float>>& found);

}  // namespace udv::testing

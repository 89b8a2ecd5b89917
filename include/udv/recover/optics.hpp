// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Geometry of a Fourier ptychographic microscope: LEDs below a slide, an objective above it.
/// x runs along the columns of an image, y along its rows.
struct UDV_EXPORT Optics {
  double wavelength_m = 0;
  double numerical_aperture = 0;  ///< of the objective, in air
  double pixel_m = 0;             ///< on the sample: camera pixel / magnification
  double led_pitch_mm = 0;        ///< between neighbours of the grid
  double led_distance_mm = 0;     ///< LEDs to the lower face of the slide
  double slide_thickness_mm = 0;  ///< 0: no slide
  double slide_index = 1;         ///< refractive index of the slide
  double rotation_degrees = 0;    ///< of the grid about the optical axis, from x towards y
  double x_offset_mm = 0;         ///< of LED (0, 0) from the axis, before the rotation
  double y_offset_mm = 0;
  double defocus_m = 0;   ///< of the sample
  int upsampling = 2;     ///< pixels of the recovered image per camera pixel and direction
  bool mirrored = false;  ///< LED (x, y) of the list stands at (-x, y)
  bool swapped = false;   ///< and then, or else, at (y, x)

  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// Place in the grid of LEDs, in pitches; (0, 0) is near the axis. LEDs need not stand on a grid.
struct GridPoint {
  double x = 0;
  double y = 0;
  bool operator==(const GridPoint&) const = default;
};

/// The first `count` points of the outward spiral (0, 0), then 1 step along +x, 1 along +y, 2 along
/// -x, 2 along -y, 3 along +x, ...
UDV_EXPORT std::vector<GridPoint> spiral_order(Index count);

/// rows x cols points, row by row; (0, 0) is the one at (rows / 2, cols / 2).
UDV_EXPORT std::vector<GridPoint> raster_order(Index rows, Index cols);

/// Direction of the light of one LED at the sample, as direction cosines in air.
struct Illumination {
  double kx = 0;  ///< -na cos(phi), phi = atan2(y, x) of the LED
  double ky = 0;  ///< -na sin(phi)
  double na = 0;  ///< sine of the angle to the axis
  GridPoint led;
};

/// Light of each LED that leaves the slide on the axis: na = s with
/// H s / sqrt(1 - s^2) + t s / sqrt(n^2 - s^2) = R (Snell), for an LED at distance R from the axis,
/// H below a slide of thickness t and index n.
UDV_EXPORT std::vector<Illumination> illuminations(const Optics& optics,
                                                   const std::vector<GridPoint>& leds);

/// The smallest upsampling whose spectrum holds the windows of all lights; that of the optics does
/// not matter.
UDV_EXPORT int enough_upsampling(const Optics& optics, Index low_rows, Index low_cols,
                                 const std::vector<Illumination>& lights);

/// Upper left corner of the part of the centred high-resolution spectrum that one LED shows.
/// In a centred spectrum of n samples the frequency 0 stands at n / 2 (rounded down).
struct Window {
  Index row = 0;
  Index col = 0;
  bool operator==(const Window&) const = default;
};

/// Windows of low_rows x low_cols samples in the spectrum of upsampling * (low_rows x low_cols).
/// Their middles lie round(-kx low_cols pixel / wavelength) columns and
/// round(-ky low_rows pixel / wavelength) rows from frequency 0, halves away from 0: opposite LEDs
/// have opposite windows. Throws InvalidArgument naming the first LED that leaves the spectrum and
/// the upsampling that would be enough for all; also where the pupil does not fit.
UDV_EXPORT std::vector<Window> spectrum_windows(const Optics& optics, Index low_rows,
                                                Index low_cols,
                                                const std::vector<Illumination>& lights);

/// Transfer function of the objective on a centred window: exp(i defocus kz),
/// kz = sqrt(k0^2 - kx^2 - ky^2), k0 = 2 pi / wavelength, where kx^2 + ky^2 <= (NA k0)^2, else 0.
/// Throws InvalidArgument where that disc does not fit into the window (NA pixel >= wavelength / 2)
/// or is smaller than a sample.
UDV_EXPORT RowMatrix<std::complex<double>> pupil(const Optics& optics, Index low_rows,
                                                 Index low_cols);

/// The same transfer function on a window of another size: the frequencies are the same, so the
/// samples between given ones are interpolated (bilinear).
UDV_EXPORT RowMatrix<std::complex<double>> resampled_pupil(
    const RowMatrix<std::complex<double>>& given, Index low_rows, Index low_cols);

/// A known transfer function cut at the NA of the optics, `wider` samples further out; samples of
/// that disc where it is 0 take the value of the nearest one on the way to the middle.
UDV_EXPORT RowMatrix<std::complex<double>> cut_at_na(RowMatrix<std::complex<double>> known,
                                                     const Optics& optics, double wider = 0);

/// Samples by which something is moved, less than one in each direction.
struct SampleShift {
  double down = 0, right = 0;
};

/// How the pupil of each image differs from the common one P. Both may be empty: they do not.
struct ImagePupils {
  std::vector<RowMatrix<float>> supports;  ///< factors on P, one array per image
  std::vector<SampleShift> shifts;         ///< the phase is that of P(k - shift), bilinear

  bool empty() const { return supports.empty() && shifts.empty(); }
  /// Those of some images.
  UDV_EXPORT ImagePupils of(const std::vector<Index>& images) const;
};

/// Discs that are moved, and the neighbours that phases are interpolated from, lie within so many
/// samples of the disc that is not moved.
inline constexpr double kExactMargin = 2;

/// LEDs stand between the samples of a spectrum. What the rounding of spectrum_windows() leaves
/// over, less than one sample, moves the pupil: each image has a disc of its own, and phases of
/// its own.
struct ExactPupils {
  RowMatrix<std::complex<double>> pupil;  ///< as pupil(), kExactMargin samples wider
  ImagePupils own;                        ///< supports: 1 in the disc of the image, else 0
};
UDV_EXPORT ExactPupils exact_pupils(const Optics& optics, Index low_rows, Index low_cols,
                                    const std::vector<Illumination>& lights);

/// Share in [0, 1] of the pupil of windows[led] that the pupils of windows[others] cover. An image
/// can be predicted from the others only where it is near 1. O(pupil samples * others).
UDV_EXPORT double coverage(const RowMatrix<std::complex<double>>& pupil,
                           const std::vector<Window>& windows, Index led,
                           const std::vector<Index>& others);

}  // namespace udv

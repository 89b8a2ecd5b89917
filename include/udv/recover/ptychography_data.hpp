// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/optics.hpp"

namespace udv {

/// What the numbers of an image are.
enum class ImageKind { kAmplitude, kIntensity };

/// Images of one size, one after the other, each row by row.
struct ImageStack {
  Index images = 0, rows = 0, cols = 0;
  ImageKind kind = ImageKind::kIntensity;
  std::vector<double> values;
};

/// An image of a data set: its LED and whether it is used.
struct LedInfo {
  Index image = 0;  ///< number in the data set, from 0
  Illumination light;
  bool dark = false;     ///< dark field, by its place
  double level = 0;      ///< mean intensity / that of typical bright images; 0: not known
  std::string left_out;  ///< why; empty: used
};

/// The images of a Fourier ptychographic data set that are used, and their geometry.
struct PtychographyData {
  Index rows = 0, cols = 0;     ///< of the spectrum to recover
  std::vector<Window> windows;  ///< one per image
  RowMatrix<std::complex<double>> pupil;
  ExactPupils exact;                 ///< the same for LEDs between samples; empty: not known
  Vector<float> amplitudes;          ///< image by image, row by row
  Vector<float> weights;             ///< of pixels, 0 where one says nothing; empty: all 1
  std::vector<bool> dark;            ///< the LED's own light is outside of the pupil
  std::vector<Index> used;           ///< number of each image in the data set, from 0
  std::vector<Index> contradicting;  ///< numbers of images that contradict the model, from 0
  Optics optics;                     ///< as used
  std::vector<LedInfo> leds;         ///< of all images, also of those that are left out
  std::vector<Index> bad_pixels;     ///< hot or dead in all images, row by row from 0
  Index saturated = 0;               ///< samples of images that are at the camera's limit
  std::vector<std::string> warnings;
};

/// What is done about the places of the LEDs; see calibrate().
enum class Calibration {
  kAuto,  ///< the geometry that images show, where it differs and explains images better
  kOn,    ///< the geometry that images show, where they show one
  kOff,   ///< that of the setup
};

/// Reads the images of a .mat, .npz or HDF5 file and the setup that examples/bloodsmear.toml
/// documents. Images that are empty, on the rim of the pupil or contradict the model are left out
/// with a warning where `drop_bad`; else empty ones throw IoError. Saturated samples and pixels
/// that are hot or dead in all images have the weight 0.
UDV_EXPORT PtychographyData read_ptychography(const std::filesystem::path& data_path,
                                              const std::filesystem::path& setup_path,
                                              bool drop_bad = true,
                                              Calibration calibration = Calibration::kOff);

/// The same from memory: lights[l] is the light of image l. Without a pupil of the caller's own it
/// is that of the optics. Throws InvalidArgument naming image and pixel.
UDV_EXPORT PtychographyData ptychography_data(
    const ImageStack& images, const Optics& optics, const std::vector<Illumination>& lights,
    bool drop_bad = true, const RowMatrix<std::complex<double>>& known_pupil = {});

/// A part of the images of a data set, ready for recover_image().
struct PtychographyImages {
  std::shared_ptr<const PtychographyOperator<std::complex<float>>> op;  ///< nullptr: no images
  /// With LEDs between the samples of the spectrum; nullptr: not known.
  std::shared_ptr<const PtychographyOperator<std::complex<float>>> exact;
  Vector<float> amplitudes;
  std::vector<bool> dark;
  Vector<float> weights;  ///< of pixels, 0 where one says nothing; empty: all 1
};

/// Images that are used and images that are only predicted.
struct PtychographySplit {
  PtychographyImages used, held_out;
  std::vector<Index> fitted;  ///< places of the used ones in the data set's `used`
};

/// Holds out `count` images, chosen by choose_held_out(); none where 0.
UDV_EXPORT PtychographySplit split_images(const PtychographyData& data, Index count = 0,
                                          std::uint64_t seed = 0);

/// `count` images, chosen by the seed among those whose pupil the others that are not held out
/// cover to 99 %. Throws InvalidArgument where there are not so many.
UDV_EXPORT std::vector<Index> choose_held_out(const PtychographyOperator<std::complex<float>>& op,
                                              Index count, std::uint64_t seed);

/// Upper left corners (row, col) of the windows, one row per image.
UDV_EXPORT RowMatrix<double> window_corners(const PtychographyOperator<std::complex<float>>& op);

/// Bytes that a recovery with so many columns takes, about: by recover_image(), or by recover()
/// with the gradient method alone.
UDV_EXPORT double memory_estimate(const PtychographyOperator<std::complex<float>>& op,
                                  Index columns, bool gradient_alone = false);

}  // namespace udv

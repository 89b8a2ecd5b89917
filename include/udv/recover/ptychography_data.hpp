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
  std::vector<std::string> warnings;
};

/// Reads the images of a .mat, .npz or HDF5 file and the setup that examples/bloodsmear.toml
/// documents. Images that are empty, saturated or contradict the model are left out with a warning
/// where `drop_bad`; else empty and saturated ones throw IoError.
UDV_EXPORT PtychographyData read_ptychography(const std::filesystem::path& data_path,
                                              const std::filesystem::path& setup_path,
                                              bool drop_bad = false);

/// The same from memory: lights[l] is the light of image l. Without a pupil of the caller's own it
/// is that of the optics. Throws InvalidArgument naming image and pixel.
UDV_EXPORT PtychographyData ptychography_data(
    const ImageStack& images, const Optics& optics, const std::vector<Illumination>& lights,
    bool drop_bad = false, const RowMatrix<std::complex<double>>& known_pupil = {});

/// Images that contradict the model: bright field (the LED's own light passes the pupil) but far
/// darker than the other bright ones, or dark field and far brighter. Indices from 0.
UDV_EXPORT std::vector<Index> contradicting_images(const Vector<float>& amplitudes, Index pixels,
                                                   const std::vector<bool>& dark);

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

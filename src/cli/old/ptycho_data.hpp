// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "udv/recover/optics.hpp"

namespace udv::cli {

/// The images of a Fourier ptychographic data set that are used, and their geometry.
struct PtychoData {
  Index rows = 0, cols = 0;     ///< of the spectrum to recover
  std::vector<Window> windows;  ///< one per image
  RowMatrix<std::complex<double>> pupil;
  Vector<float> amplitudes;          ///< image by image, row by row
  std::vector<bool> dark;            ///< the LED's own light is outside of the pupil
  std::vector<Index> used;           ///< number of each image in the file, from 0
  std::vector<Index> contradicting;  ///< numbers of images that contradict the model, from 0
  std::vector<std::string> warnings;
};

/// Reads images and setup. Images that are empty, saturated or contradict the model are left out
/// with a warning where `drop_bad`; else empty and saturated ones throw IoError.
PtychoData read_ptycho_data(const std::string& data_path, const std::string& setup_path,
                            bool drop_bad);

}  // namespace udv::cli

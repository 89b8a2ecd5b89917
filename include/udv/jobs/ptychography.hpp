// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/ptychography_field.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv::jobs {

/// Files of a Fourier ptychographic data set.
struct PtychographyInput {
  std::string data;    ///< images: .mat, .npz or HDF5
  std::string setup;   ///< TOML file with optics, LEDs and data
  std::string mask;    ///< pixels not to use, where not 0; may be empty
  bool guess = false;  ///< for front ends: guess_setup() instead of ptychography()
};
UDV_EXPORT void describe(OptionTable& table, PtychographyInput& input);

struct UDV_EXPORT PtychographyJobOptions {
  PtychographyJobOptions();

  PupilRefinement refine_pupil = PupilRefinement::kPhase;
  bool dark_gain = true;       ///< one common factor on all dark-field images, from the data
  bool all_candidates = true;  ///< all starts (flat, dynamics, modulus), or flat alone
  Index held_out = 0;          ///< images that are not used but predicted
  bool drop_bad = true;  ///< leave out images that are empty, on the rim or contradict the model
  Calibration calibration = Calibration::kAuto;  ///< of LED positions
  PhotonNoise noise = PhotonNoise::kAuto;
  /// Pixels of the side of a tile, about; 0: tiles where a side has more than 192 pixels; -1: none.
  Index tile = 0;
  std::vector<Index> snapshots;  ///< iterations to draw (gradient method)
  RecoverOptions method;         ///< a method, a step or no rank walk: the paper's algorithm
};
UDV_EXPORT void describe(OptionTable& table, PtychographyJobOptions& options);

/// A setup file that was made from what a data file says.
struct SetupGuess {
  std::string path;                  ///< of the file that was written
  std::vector<std::string> found;    ///< "wavelength_nm: variable wlength"
  std::vector<std::string> missing;  ///< keys that somebody has to fill in
};

/// Writes a setup file with comments: quantities from variables whose names tell them, from the
/// resolution and OME-XML of TIFF files, and the order of LEDs from their number. It goes to
/// `input.setup`, or beside the working directory under the name of the data file with .toml.
/// Throws OptionError where there is a file already, unless the session is told to replace.
UDV_EXPORT SetupGuess guess_setup(const PtychographyInput& input, const Session& session);

/// Whether a field of this size is cut into tiles.
UDV_EXPORT bool wants_tiles(const PtychographyJobOptions& options, Index rows, Index cols);

struct PtychographyJobResult : RecoveryResult<std::complex<float>> {
  RowMatrix<std::complex<float>> image;   ///< of the sample
  RowMatrix<std::complex<double>> pupil;  ///< as used, with its correction
  double dark_gain = 1;
  std::vector<ImageCandidate> candidates;  ///< empty for the gradient method
  std::string winner;
  double amplitude_residual = 1;
  std::optional<double> held_out_residual;
  std::optional<double> held_out_scaled;  ///< with the best gain and background of each image
  Index tiles = 0;                        ///< 0: not cut into tiles
  Index vortices = 0;                     ///< count_vortices() of the image
  double phase_bowl = 0;                  ///< radians, phase_bowl() of the image
};

/// Recovers a complex image from Fourier ptychographic intensities. Throws IoError naming file and
/// place, OptionError naming a setting.
UDV_EXPORT PtychographyJobResult ptychography(const PtychographyInput& input,
                                              const PtychographyJobOptions& options,
                                              Session& session);
/// The same for a field in memory, in tiles where it is large.
UDV_EXPORT PtychographyJobResult ptychography(PtychographyField field,
                                              const PtychographyJobOptions& options,
                                              Session& session);
/// The same for images that have been checked: nothing is calibrated, nothing cut into tiles.
UDV_EXPORT PtychographyJobResult ptychography(const PtychographyData& data,
                                              const PtychographyJobOptions& options,
                                              Session& session);

}  // namespace udv::jobs

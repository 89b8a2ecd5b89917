// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/ptychography_data.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv::jobs {

/// Files of a Fourier ptychographic data set.
struct PtychographyInput {
  std::string data;   ///< images: .mat, .npz or HDF5
  std::string setup;  ///< TOML file with optics, LEDs and data
};
UDV_EXPORT void describe(OptionTable& table, PtychographyInput& input);

struct UDV_EXPORT PtychographyJobOptions {
  PtychographyJobOptions();

  PupilRefinement refine_pupil = PupilRefinement::kPhase;
  bool dark_gain = true;       ///< one common factor on all dark-field images, from the data
  bool all_candidates = true;  ///< all starts (flat, dynamics, modulus), or flat alone
  Index held_out = 0;          ///< images that are not used but predicted
  bool drop_bad = true;  ///< leave out images that are empty, on the rim or contradict the model
  Calibration calibration = Calibration::kAuto;  ///< of LED positions, for files
  std::vector<Index> snapshots;                  ///< iterations to draw (gradient method)
  RecoverOptions method;  ///< a method, a step or no rank walk: the paper's algorithm
};
UDV_EXPORT void describe(OptionTable& table, PtychographyJobOptions& options);

struct PtychographyJobResult : RecoveryResult<std::complex<float>> {
  RowMatrix<std::complex<float>> image;   ///< of the sample
  RowMatrix<std::complex<double>> pupil;  ///< as used, with its correction
  double dark_gain = 1;
  std::vector<ImageCandidate> candidates;  ///< empty for the gradient method
  std::string winner;
  double amplitude_residual = 1;
  std::optional<double> held_out_residual;
  std::optional<double> held_out_scaled;  ///< with the best gain and background of each image
};

/// Recovers a complex image from Fourier ptychographic intensities. Throws IoError naming file and
/// place, OptionError naming a setting.
UDV_EXPORT PtychographyJobResult ptychography(const PtychographyInput& input,
                                              const PtychographyJobOptions& options,
                                              Session& session);
UDV_EXPORT PtychographyJobResult ptychography(const PtychographyData& data,
                                              const PtychographyJobOptions& options,
                                              Session& session);

}  // namespace udv::jobs

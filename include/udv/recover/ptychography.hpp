// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What may be corrected of a pupil. A free complex pupil overfits: the brightness of one image
/// would decide its modulus at one place.
enum class PupilRefinement {
  kOff,
  kPhase,       ///< one phase per sample
  kPolynomial,  ///< phases that are polynomials of degree 4 in the two frequencies
};

struct UDV_EXPORT PtychographyOptions {
  PupilRefinement refine_pupil = PupilRefinement::kPhase;
  int pupil_rounds = 2;  ///< of pupil and image in turn
  /// One common factor on the amplitudes of all dark-field images, from the data: dark images that
  /// are too dark by the same factor contradict no picture, only their exposure.
  bool dark_gain = true;
  bool dynamics = true;       ///< also try the starts that the lifted dynamics supply
  Index columns = 8;          ///< of U in the dynamics
  Index dynamics_steps = 64;  ///< iterations of the dynamics
  Recording record = Recording::kLog;
  std::uint64_t seed = 0;

  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// A start and what a fit from it reached.
struct ImageCandidate {
  std::string name;     ///< flat, dynamics, modulus
  double residual = 1;  ///< relative amplitude residual on the images used
};

/// X = x x^* for the centred spectrum x of the sample. Residual and certificate are those of the
/// intensities a^2 with the pupil as refined.
struct PtychographyResult : BasicRecovery<std::complex<float>> {
  Vector<std::complex<float>> x;           ///< centred spectrum; sample_image() is the image
  RowMatrix<std::complex<double>> pupil;   ///< as used, with its correction
  double dark_gain = 1;                    ///< measured / predicted amplitude of dark-field images
  double amplitude_residual = 1;           ///< relative, on the images used
  std::vector<ImageCandidate> candidates;  ///< in the order tried
  std::string winner;
};

/// Recovers the sample from amplitudes a of all images: Levenberg-Marquardt on sum (|psi| - a)^2
/// from each start, the lowest objective wins; then the pupil, the dark gain and the image in turn.
/// dark[l] says which images are dark field (the light of the LED itself is outside of the pupil).
/// Throws InvalidArgument where `hooks.resume` is not a state of the same problem and options.
UDV_EXPORT PtychographyResult recover_image(const PtychographyOperator<std::complex<float>>& op,
                                            const Vector<float>& amplitudes,
                                            const std::vector<bool>& dark,
                                            const PtychographyOptions& options = {},
                                            const Hooks& hooks = {});

/// | |psi| - a | / |a| over all images of the operator, with the gain on the dark ones.
UDV_EXPORT double amplitude_residual(const PtychographyOperator<std::complex<float>>& op,
                                     const Vector<float>& amplitudes, const std::vector<bool>& dark,
                                     double dark_gain, const Vector<std::complex<float>>& spectrum);

/// The image of a spectrum, times the factor of modulus 1 that makes its largest value real.
UDV_EXPORT RowMatrix<std::complex<float>> sample_image(
    const PtychographyOperator<std::complex<float>>& op,
    const Vector<std::complex<float>>& spectrum);

/// Mean of the squared amplitudes of one image.
UDV_EXPORT double mean_intensity(const Vector<float>& amplitudes, Index pixels, Index image);

}  // namespace udv

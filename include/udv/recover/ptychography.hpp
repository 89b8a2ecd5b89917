// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/ptychography_data.hpp"
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

/// What is known of the noise of intensities.
enum class PhotonNoise {
  kAuto,      ///< counting noise and a constant, both as images show them
  kGaussian,  ///< of equal size everywhere in the amplitudes: none is worth more than another
  kPoisson,   ///< intensities are counts
};

struct UDV_EXPORT PtychographyOptions {
  PupilRefinement refine_pupil = PupilRefinement::kPhase;
  int pupil_rounds = 2;  ///< of pupil and image in turn
  int gain_rounds = 10;  ///< more of them while the gain of dark images changes by 3 %
  /// One common factor on the amplitudes of all dark-field images, from the data: dark images that
  /// are too dark by the same factor contradict no picture, only their exposure.
  bool dark_gain = true;
  /// Light that is not of the sample: one constant per dark-field image, found with the sample.
  bool background = true;
  /// One factor per LED on top, near 1: LEDs are not equally bright.
  bool led_gains = true;
  /// Slowly varying phases are held near 0, the more the worse images fit the model: these hardly
  /// show them, and misfits would become phases.
  bool hold_slow_phases = true;
  PhotonNoise noise = PhotonNoise::kAuto;
  bool dynamics = true;       ///< also try the starts that the lifted dynamics supply
  Index columns = 8;          ///< of U in the dynamics
  Index dynamics_steps = 64;  ///< iterations of the dynamics
  bool examine = true;        ///< certificate and what the data leave open
  Recording record = Recording::kLog;
  std::uint64_t seed = 0;
  std::string device = "cpu";  ///< or cuda, which needs the component cuda

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
  bool exact = false;                      ///< LEDs between samples: PtychographyImages::exact
  double dark_gain = 1;                    ///< measured / predicted amplitude of dark-field images
  Vector<float> gains;                     ///< the same per image, with that of its LED
  Vector<float> backgrounds;               ///< intensities, one per image
  double amplitude_residual = 1;           ///< relative, on the images used
  double noise_per_intensity = 0;          ///< variance of an intensity = this * intensity ...
  double noise_constant = 0;               ///< ... + this; both 0 where no noise was modelled
  std::vector<ImageCandidate> candidates;  ///< in the order tried
  std::string winner;
};

/// What is known before a recovery, from a neighbouring part of the same capture or the optics.
struct PtychographyStart {
  RowMatrix<std::complex<double>> pupil;  ///< empty: nothing is known
  bool exact = false;                     ///< as PtychographyResult has it
  double dark_gain = 1;
  /// wave_curvature() of light that the sample was lit by: flat starts have this phase, since
  /// images hardly tell slow phases. The sample that is found has it, too.
  double curvature = 0;
};

/// Recovers the sample from amplitudes a of images: Levenberg-Marquardt on
/// sum w (sqrt(g_l^2 |psi|^2 + b_l + c) - sqrt(a^2 + c))^2, where c makes the noise equal. Each
/// start is fitted to the bright-field images, the lowest objective wins; then all images with
/// backgrounds b_l of dark ones; then the pupil, the gains and the image in turn. Dark-field: the
/// light of the LED itself is outside of the pupil. From then on samples of the spectrum are shrunk
/// by what noise and signal are on rings of it. Throws InvalidArgument where `hooks.resume` is not
/// a state of the same problem and options.
UDV_EXPORT PtychographyResult recover_image(const PtychographyImages& images,
                                            const PtychographyOptions& options = {},
                                            const Hooks& hooks = {},
                                            const PtychographyStart& start = {});

/// |q - a| / |a| over the pixels that count, for the images that `found` was fitted to.
UDV_EXPORT double amplitude_residual(const PtychographyImages& images,
                                     const PtychographyResult& found);

/// Relative residuals of amplitudes | q - a | / | a | over pixels that count.
struct HeldOutResidual {
  double predicted = 1;  ///< q with the dark gain and the typical background of dark images
  double scaled = 1;     ///< q with the best gain and background of each image
};
/// The operator that an answer belongs to, with its pupil.
UDV_EXPORT std::unique_ptr<PtychographyOperator<std::complex<float>>> operator_of(
    const PtychographyImages& images, const PtychographyResult& found);

/// Of images that `found` was not fitted to.
UDV_EXPORT HeldOutResidual held_out_residual(const PtychographyImages& images,
                                             const PtychographyResult& found);

/// The image of a spectrum, times the factor of modulus 1 that makes its largest value real.
UDV_EXPORT RowMatrix<std::complex<float>> sample_image(
    const PtychographyOperator<std::complex<float>>& op,
    const Vector<std::complex<float>>& spectrum);

/// Mean of the squared amplitudes of one image.
UDV_EXPORT double mean_intensity(const Vector<float>& amplitudes, Index pixels, Index image);

}  // namespace udv

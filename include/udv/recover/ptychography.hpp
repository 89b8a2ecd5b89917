// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "udv/core/observer.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv {

/// What may be corrected of a pupil. A free complex pupil overfits: the brightness of one image
/// would decide its modulus at one place.
enum class PupilRefinement {
  kOff,
  kPhase,       ///< one phase per sample
  kPolynomial,  ///< phases that are polynomials of degree 4 in the two frequencies
};

struct PtychographyOptions {
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
};

/// A start and what a fit from it reached.
struct ImageCandidate {
  std::string name;     ///< flat, dynamics, modulus
  double residual = 1;  ///< relative amplitude residual on the images used
};

struct PtychographyResult {
  Vector<std::complex<float>> spectrum;    ///< centred
  RowMatrix<std::complex<double>> pupil;   ///< as used, with its correction
  double dark_gain = 1;                    ///< measured / predicted amplitude of dark-field images
  double residual = 1;                     ///< relative amplitude residual on the images used
  std::vector<ImageCandidate> candidates;  ///< in the order tried
  std::string winner;
  Index iterations = 0;
  double seconds = 0;
  bool stopped = false;  ///< by the observer
  std::vector<IterationRecord> history;
};

/// Recovers the sample from amplitudes a of all images: Levenberg-Marquardt on sum (|psi| - a)^2
/// from each start, the lowest objective wins; then the pupil, the dark gain and the image in turn.
/// dark[l] says which images are dark field (the light of the LED itself is outside of the pupil).
PtychographyResult recover_image(const PtychographyOperator<std::complex<float>>& op,
                                 const Vector<float>& amplitudes, const std::vector<bool>& dark,
                                 const PtychographyOptions& options = {},
                                 const Observer& observer = nullptr);

/// | |psi| - a | / |a| over all images of the operator, with the gain on the dark ones.
double amplitude_residual(const PtychographyOperator<std::complex<float>>& op,
                          const Vector<float>& amplitudes, const std::vector<bool>& dark,
                          double dark_gain, const Vector<std::complex<float>>& spectrum);

/// Images that contradict the model: bright field (the LED's own light passes the pupil) but far
/// darker than the other bright ones, or dark field and far brighter. Indices from 0.
std::vector<Index> contradicting_images(const Vector<float>& amplitudes, Index pixels,
                                        const std::vector<bool>& dark);

/// `count` images, chosen by the seed among those whose pupil the others that are not held out
/// cover to 99 %. Throws InvalidArgument where there are not so many.
std::vector<Index> choose_held_out(const PtychographyOperator<std::complex<float>>& op, Index count,
                                   std::uint64_t seed);

}  // namespace udv

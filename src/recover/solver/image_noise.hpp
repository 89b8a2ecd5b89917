// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/recover/operators/imaging.hpp"

namespace udv {

/// Noise of intensities: variance = per_intensity * intensity + constant. Counts of photons have
/// per_intensity 1, in units of one photon; a camera adds a constant.
struct ImageNoise {
  double per_intensity = 0;
  double constant = 0;

  /// c for which sqrt(I + c) has nearly the same noise everywhere: 3/8 per_intensity + constant /
  /// per_intensity (Anscombe, 1948; Starck, Murtagh, Bijaoui, 1998), at most `most`.
  double offset(double most) const;
};

/// What the highest frequencies of images show, where the sample shows next to nothing: an upper
/// bound of their noise. Bright images tell per_intensity, the darkest ones the constant.
ImageNoise noise_of_images(const PtychographyOperator<std::complex<float>>& op,
                           const Vector<float>& amplitudes, const std::vector<bool>& dark);

/// lambda_k = 2 sigma^2 / S_k for amplitudes with noise of variance sigma^2 and spectrum samples of
/// expected square S_k: the mean of |x_k|^2 on rings about frequency 0, without the share of the
/// noise, 4 sigma^2 / (light of sample k). Samples without light get the largest lambda. Where the
/// light is a plane wave, frequency 0 is not shrunk, and phases of the first ring, which images
/// hardly tell, are expected to be as strong against absorption as those of the next rings.
Vector<float> shrinkage_of(const PtychographyOperator<std::complex<float>>& op,
                           const Vector<std::complex<float>>& x, const Vector<float>& weights,
                           double variance, bool plane_wave);

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Pixels of one image: squared predictions s_i = |psi_i|^2, amplitudes a_i, weights w_i.
struct ImagePixels {
  const float* squares;
  const float* amplitudes;
  const float* weights;
  Index count;
};

/// An image is exposure * |psi|^2 + background.
struct ImageLight {
  double exposure = 1;
  double background = 0;
};

/// Half of the derivative of sum w (sqrt(exposure s + b) - a)^2 in b, and its own derivative.
struct BackgroundSlope {
  double value = 0;
  double change = 0;
};

/// The search behind best_background(), one slope at a time, wherever the pixels are: while not
/// done(), take() the slope at at(); then at() is the background.
class BackgroundSearch {
 public:
  /// With the largest a^2 of the pixels that have a weight.
  BackgroundSearch(double largest_intensity, double least);
  bool done() const { return done_; }
  double at() const { return at_; }
  void take(const BackgroundSlope& slope);

 private:
  double low_, high_, least_, at_;
  int steps_ = -1;  // the first slope is that at the least background
  bool done_ = false;
};

/// max a^2 over the pixels that have a weight.
double largest_intensity(const ImagePixels& pixels);

/// The background b >= least that minimises sum w (sqrt(exposure s + b) - a)^2, which is convex in
/// exposure and b: Newton's method in a bracket. The least one where no pixel has a weight.
double best_background(const ImagePixels& pixels, double exposure, double least = 0);

/// The exposure that minimises it for a given background, between 1e-6 and 1e6.
double best_exposure(const ImagePixels& pixels, double background);

/// One exposure for all images, each with its own best background, by turns; the least backgrounds
/// where not `with_backgrounds`.
double common_exposure(const std::vector<ImagePixels>& images, bool with_backgrounds,
                       double least = 0);

/// Exposure and background of one image, by turns.
ImageLight best_light(const ImagePixels& pixels);

}  // namespace udv

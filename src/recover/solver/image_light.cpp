// SPDX-License-Identifier: MIT
#include "recover/solver/image_light.hpp"

#include <algorithm>
#include <cmath>

namespace udv {
namespace {

constexpr int kNewtonSteps = 40, kTurns = 8;
constexpr double kAccuracy = 1e-5;  // of a background or an exposure
constexpr double kLeastExposure = 1e-6;
constexpr double kSmallest = 1e-12;  // of the largest intensity: keeps quotients finite

double largest_intensity(const ImagePixels& p) {
  float largest = 0;
  for (Index i = 0; i < p.count; ++i)
    if (p.weights[i] > 0) largest = std::max(largest, p.amplitudes[i]);
  return static_cast<double>(largest) * static_cast<double>(largest);
}

// Half of the derivative of the sum of squares in the background, and its own derivative.
struct Slope {
  double value = 0;
  double change = 0;
};

Slope background_slope(const ImagePixels& p, double exposure, double background) {
  Slope slope;
  for (Index i = 0; i < p.count; ++i) {
    const double square = exposure * static_cast<double>(p.squares[i]) + background;
    const double share = static_cast<double>(p.amplitudes[i]) / std::sqrt(square);
    const auto weight = static_cast<double>(p.weights[i]);
    slope.value += weight * (1 - share);
    slope.change += weight * share / (2 * square);
  }
  return slope;
}

// The slope rises with the background: Newton's steps, or the middle of the bracket on a
// logarithmic scale.
double background_root(const ImagePixels& p, double exposure, double low, double high) {
  double at = std::sqrt(low * high);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Slope slope = background_slope(p, exposure, at);
    (slope.value < 0 ? low : high) = at;
    double next = at - slope.value / slope.change;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const bool done = std::abs(next - at) <= kAccuracy * at;
    at = next;
    if (done) break;
  }
  return at;
}

// Sums over the pixels: w s and w s a / sqrt(exposure s + b). At the best exposure they are equal.
struct Balance {
  double predicted = 0;
  double measured = 0;
};

void add_balance(const ImagePixels& p, const ImageLight& light, Balance& sum) {
  for (Index i = 0; i < p.count; ++i) {
    const auto s = static_cast<double>(p.squares[i]);
    if (!(s > 0)) continue;
    const double q = std::sqrt(light.exposure * s + light.background);
    const double product = static_cast<double>(p.weights[i]) * s;
    sum.predicted += product;
    sum.measured += product * static_cast<double>(p.amplitudes[i]) / q;
  }
}

// exposure *= (measured / predicted)^2: exact without background, else a few turns.
double exposure_root(const std::vector<ImagePixels>& images, const std::vector<double>& backgrounds,
                     double exposure) {
  for (int step = 0; step < kNewtonSteps; ++step) {
    Balance sum;
    for (size_t i = 0; i < images.size(); ++i)
      add_balance(images[i], {exposure, backgrounds[i]}, sum);
    if (!(sum.predicted > 0) || !(sum.measured > 0)) return exposure;
    const double factor = std::pow(sum.measured / sum.predicted, 2);
    exposure = std::clamp(exposure * factor, kLeastExposure, 1 / kLeastExposure);
    if (std::abs(factor - 1) <= kAccuracy) break;
  }
  return exposure;
}

}  // namespace

double best_background(const ImagePixels& pixels, double exposure, double least) {
  const double high = largest_intensity(pixels), low = std::max(least, kSmallest * high);
  if (!(high > low)) return least;
  if (background_slope(pixels, exposure, low).value >= 0) return least;
  return background_root(pixels, exposure, low, high);
}

double best_exposure(const ImagePixels& pixels, double background) {
  return exposure_root({pixels}, {background}, 1);
}

double common_exposure(const std::vector<ImagePixels>& images, bool with_backgrounds,
                       double least) {
  double exposure = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<double> backgrounds;
    for (const ImagePixels& image : images)
      backgrounds.push_back(with_backgrounds ? best_background(image, exposure, least) : least);
    exposure = exposure_root(images, backgrounds, exposure);
  }
  return exposure;
}

ImageLight best_light(const ImagePixels& pixels) {
  const double exposure = common_exposure({pixels}, true);
  return {exposure, best_background(pixels, exposure)};
}

}  // namespace udv

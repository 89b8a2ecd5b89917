// SPDX-License-Identifier: MIT
#include "recover/solver/image_light.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr int kNewtonSteps = 40, kTurns = 8;
constexpr double kAccuracy = 1e-5;  // of a background or an exposure
constexpr double kLeastExposure = 1e-6;
constexpr double kSmallest = 1e-12;  // of the largest intensity: keeps quotients finite

BackgroundSlope background_slope(const ImagePixels& p, double exposure, double background) {
  BackgroundSlope slope;
  for (Index i = 0; i < p.count; ++i) {
    const double square = exposure * static_cast<double>(p.squares[i]) + background;
    const double share = static_cast<double>(p.amplitudes[i]) / std::sqrt(square);
    const auto weight = static_cast<double>(p.weights[i]);
    slope.value += weight * (1 - share);
    slope.change += weight * share / (2 * square);
  }
  return slope;
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

// Calls body(image) for all of them, on all threads.
template <typename Body>
void for_images(const std::vector<ImagePixels>& images, const Body& body) {
  parallel_blocks(static_cast<Index>(images.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) body(static_cast<size_t>(i));
  });
}

Balance balance_of(const std::vector<ImagePixels>& images, const std::vector<double>& backgrounds,
                   double exposure) {
  std::vector<Balance> parts(images.size());
  for_images(images, [&](size_t i) {
    add_balance(images[i], {exposure, backgrounds[i]}, parts[i]);
  });
  Balance sum;
  for (const Balance& part : parts) {
    sum.predicted += part.predicted;
    sum.measured += part.measured;
  }
  return sum;
}

// exposure *= (measured / predicted)^2: exact without background, else a few turns.
double exposure_root(const std::vector<ImagePixels>& images, const std::vector<double>& backgrounds,
                     double exposure) {
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Balance sum = balance_of(images, backgrounds, exposure);
    if (!(sum.predicted > 0) || !(sum.measured > 0)) return exposure;
    const double factor = std::pow(sum.measured / sum.predicted, 2);
    exposure = std::clamp(exposure * factor, kLeastExposure, 1 / kLeastExposure);
    if (std::abs(factor - 1) <= kAccuracy) break;
  }
  return exposure;
}

}  // namespace

double largest_intensity(const ImagePixels& p) {
  float largest = 0;
  for (Index i = 0; i < p.count; ++i)
    if (p.weights[i] > 0) largest = std::max(largest, p.amplitudes[i]);
  return static_cast<double>(largest) * static_cast<double>(largest);
}

BackgroundSearch::BackgroundSearch(double largest_intensity, double least)
    : low_(std::max(least, kSmallest * largest_intensity)),
      high_(largest_intensity),
      least_(least),
      at_(low_) {
  if (high_ > low_) return;
  at_ = least;
  done_ = true;
}

// The slope rises with the background: Newton's steps, or the middle of the bracket on a
// logarithmic scale.
void BackgroundSearch::take(const BackgroundSlope& slope) {
  double next = std::sqrt(low_ * high_);
  if (++steps_ == 0) {
    done_ = slope.value >= 0;
    at_ = done_ ? least_ : next;
    return;
  }
  (slope.value < 0 ? low_ : high_) = at_;
  next = at_ - slope.value / slope.change;
  if (!(next > low_ && next < high_)) next = std::sqrt(low_ * high_);
  done_ = std::abs(next - at_) <= kAccuracy * at_ || steps_ == kNewtonSteps;
  at_ = next;
}

double best_background(const ImagePixels& pixels, double exposure, double least) {
  BackgroundSearch search(largest_intensity(pixels), least);
  while (!search.done()) search.take(background_slope(pixels, exposure, search.at()));
  return search.at();
}

double best_exposure(const ImagePixels& pixels, double background) {
  return exposure_root({pixels}, {background}, 1);
}

double common_exposure(const std::vector<ImagePixels>& images, bool with_backgrounds,
                       double least) {
  double exposure = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::vector<double> backgrounds(images.size(), least);
    if (with_backgrounds)
      for_images(images,
                 [&](size_t i) { backgrounds[i] = best_background(images[i], exposure, least); });
    exposure = exposure_root(images, backgrounds, exposure);
  }
  return exposure;
}

ImageLight best_light(const ImagePixels& pixels) {
  const double exposure = common_exposure({pixels}, true);
  return {exposure, best_background(pixels, exposure)};
}

}  // namespace udv

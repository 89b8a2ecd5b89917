// SPDX-License-Identifier: MIT
#include "recover/solver/image_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr double kHighest = 0.05;      // share of the frequencies that are looked at
constexpr double kDarkest = 0.3;       // share of the dark images that tell the constant
constexpr double kRing = 4;            // width of a ring of the spectrum, in samples
constexpr double kLeastSignal = 0.05;  // of the power of a ring

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// The highest frequencies of rows x cols samples, as places in a centred spectrum.
std::vector<Index> highest_frequencies(Index rows, Index cols) {
  const auto square = [&](Index i) {
    const double y = static_cast<double>(i / cols - rows / 2) / static_cast<double>(rows);
    const double x = static_cast<double>(i % cols - cols / 2) / static_cast<double>(cols);
    return x * x + y * y;
  };
  std::vector<Index> order(static_cast<size_t>(rows * cols));
  for (Index i = 0; i < rows * cols; ++i) order[static_cast<size_t>(i)] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return square(a) > square(b); });
  order.resize(
      std::max<size_t>(1, static_cast<size_t>(kHighest * static_cast<double>(order.size()))));
  return order;
}

double half_wave(Index i, Index size) {
  return std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(size));
}

// Mean and variance of the noise of one image.
struct Level {
  double mean = 0, variance = 0;
};

// Images are cut off at their edges: a window of half a wave in both directions hides that. Its
// mean square is 1/4.
Level level_of(const Operator& fourier, const float* amplitudes,
               const std::vector<Index>& highest) {
  const Index rows = fourier.image_rows(), cols = fourier.image_cols();
  Level level;
  for (Index i = 0; i < rows * cols; ++i)
    level.mean +=
        static_cast<double>(amplitudes[i]) * amplitudes[i] / static_cast<double>(rows * cols);
  Vector<Complex> values(rows * cols);
  for (Index i = 0; i < values.size(); ++i) {
    const double intensity = static_cast<double>(amplitudes[i]) * amplitudes[i];
    values(i) = static_cast<float>((intensity - level.mean) * half_wave(i / cols, rows) *
                                   half_wave(i % cols, cols));
  }
  const Vector<Complex> spectrum = fourier.from_image(values);
  for (const Index k : highest) level.variance += 4 * static_cast<double>(std::norm(spectrum(k)));
  level.variance /= static_cast<double>(highest.size());
  return level;
}

std::vector<Level> levels_of(const Operator& op, const Vector<float>& amplitudes) {
  const Index rows = op.pupil().rows(), cols = op.pupil().cols();
  const Operator fourier(rows, cols, {{0, 0}}, RowMatrix<std::complex<double>>::Ones(rows, cols));
  const std::vector<Index> highest = highest_frequencies(rows, cols);
  std::vector<Level> levels(static_cast<size_t>(op.images()));
  parallel_blocks(op.images(), 1, [&](Index begin, Index end) {
    for (Index l = begin; l < end; ++l)
      levels[static_cast<size_t>(l)] =
          level_of(fourier, amplitudes.data() + l * op.pixels(), highest);
  });
  return levels;
}

// Distance from frequency 0, in rings.
size_t ring_of(const Operator& op, Index k) {
  const double y = static_cast<double>(k / op.image_cols() - op.image_rows() / 2);
  const double x = static_cast<double>(k % op.image_cols() - op.image_cols() / 2);
  return static_cast<size_t>(std::hypot(x, y) / kRing);
}

}  // namespace

double ImageNoise::offset(double most) const {
  if (!(per_intensity > 0)) return constant > 0 ? most : 0;
  return std::min(most, 0.375 * per_intensity + constant / per_intensity);
}

ImageNoise noise_of_images(const Operator& op, const Vector<float>& amplitudes,
                           const std::vector<bool>& dark) {
  const std::vector<Level> levels = levels_of(op, amplitudes);
  std::vector<double> shares, means;
  for (size_t l = 0; l < levels.size(); ++l) {
    if (dark[l]) means.push_back(levels[l].mean);
    if (!dark[l] && levels[l].mean > 0) shares.push_back(levels[l].variance / levels[l].mean);
  }
  ImageNoise noise;
  if (shares.empty()) return noise;
  noise.per_intensity = quantile(shares, 0.25);
  if (means.empty()) return noise;
  const double limit = quantile(means, kDarkest);
  std::vector<double> left;
  for (size_t l = 0; l < levels.size(); ++l)
    if (dark[l] && levels[l].mean <= limit)
      left.push_back(levels[l].variance - noise.per_intensity * levels[l].mean);
  noise.constant = std::max(0.0, quantile(left, 0.5));
  return noise;
}

Vector<float> shrinkage_of(const Operator& op, const Vector<Complex>& x,
                           const Vector<float>& weights, double variance) {
  const Vector<float> light = op.diagonal(weights);
  const float floor = 1e-3f * light.maxCoeff();
  std::vector<double> power, noise, count;
  for (Index k = 0; k < x.size(); ++k) {
    if (!(light(k) > floor)) continue;
    const size_t ring = ring_of(op, k);
    if (ring >= power.size())
      for (auto* values : {&power, &noise, &count}) values->resize(ring + 1);
    power[ring] += static_cast<double>(std::norm(x(k)));
    noise[ring] += 4 * variance / static_cast<double>(light(k));
    ++count[ring];
  }
  std::vector<double> strength(power.size(), 0);
  double largest = 0;
  for (size_t ring = 0; ring < power.size(); ++ring) {
    if (!(power[ring] > 0)) continue;
    const double signal = std::max(power[ring] - noise[ring], kLeastSignal * power[ring]);
    strength[ring] = 2 * variance * count[ring] / signal;
    largest = std::max(largest, strength[ring]);
  }
  Vector<float> shrinkage(x.size());
  for (Index k = 0; k < x.size(); ++k) {
    const size_t ring = ring_of(op, k);
    const bool known = light(k) > floor && ring < strength.size() && strength[ring] > 0;
    shrinkage(k) = static_cast<float>(known ? strength[ring] : largest);
  }
  return shrinkage;
}

}  // namespace udv

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
constexpr size_t kToldRings = 3;       // in which images tell phases

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

// The place of the opposite frequency; its own where that is not in the spectrum.
Index opposite(const Operator& op, Index k) {
  const Index rows = op.image_rows(), cols = op.image_cols();
  const Index row = 2 * (rows / 2) - k / cols, col = 2 * (cols / 2) - k % cols;
  return row < rows && col < cols ? row * cols + col : k;
}

// Samples of a ring: their power, the share of noise in it, and how much of it is absorption,
// |x_k + conj(x_-k)|^2 / 4, the rest being phase, where the light has phase 0.
struct Ring {
  double power = 0, noise = 0, count = 0, absorption = 0, strength = 0;

  void add(Complex own, Complex opposite, double noise_of_sample) {
    power += static_cast<double>(std::norm(own));
    absorption += static_cast<double>(std::norm(own + std::conj(opposite))) / 4;
    noise += noise_of_sample;
    ++count;
  }
  double signal() const { return std::max(power - noise, kLeastSignal * power); }
  double absorbed() const { return std::max(absorption - noise / 2, kLeastSignal * absorption); }
};

// Images hardly tell slow phases, so that those found may be noise alone. Against absorption they
// are as strong as phases that images do tell, those of the next rings.
void bound_slow_phases(std::vector<Ring>& rings) {
  double signal = 0, absorbed = 0;
  for (size_t ring = 1; ring < std::min<size_t>(rings.size(), 1 + kToldRings); ++ring) {
    signal += rings[ring].signal();
    absorbed += rings[ring].absorbed();
  }
  if (rings.empty() || !(absorbed > 0)) return;
  const double expected = rings[0].absorbed() * std::max(1.0, signal / absorbed);
  rings[0].power = std::min(rings[0].power, expected + rings[0].noise);
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
                           const Vector<float>& weights, double variance, bool plane_wave) {
  const Vector<float> light = op.diagonal(weights);
  const float floor = 1e-3f * light.maxCoeff();
  const Index middle = op.image_rows() / 2 * op.image_cols() + op.image_cols() / 2;
  const Complex unit = std::abs(x(middle)) > 0 ? x(middle) / std::abs(x(middle)) : Complex(1);
  std::vector<Ring> rings;
  for (Index k = 0; k < x.size(); ++k) {
    if (!(light(k) > floor) || (plane_wave && k == middle)) continue;
    const size_t ring = ring_of(op, k);
    if (ring >= rings.size()) rings.resize(ring + 1);
    const double noise = 4 * variance / static_cast<double>(light(k));
    rings[ring].add(std::conj(unit) * x(k), std::conj(unit) * x(opposite(op, k)), noise);
  }
  if (plane_wave) bound_slow_phases(rings);
  double largest = 0;
  for (Ring& ring : rings) {
    if (ring.count > 0) ring.strength = 2 * variance * ring.count / ring.signal();
    largest = std::max(largest, ring.strength);
  }
  Vector<float> shrinkage(x.size());
  for (Index k = 0; k < x.size(); ++k) {
    const size_t ring = ring_of(op, k);
    const bool known = light(k) > floor && ring < rings.size() && rings[ring].strength > 0;
    shrinkage(k) = static_cast<float>(known ? rings[ring].strength : largest);
  }
  if (plane_wave) shrinkage(middle) = 0;
  return shrinkage;
}

}  // namespace udv

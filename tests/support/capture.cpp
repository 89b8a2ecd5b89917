// SPDX-License-Identifier: MIT
#include "support/capture.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "support/optics.hpp"
#include "udv/core/random.hpp"

namespace udv::testing {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr Index kHigh = kCaptureSize * kCaptureUpsampling;
constexpr Index kReach = 4;  // LEDs on each side of the middle
constexpr std::uint64_t kStreamSample = 1001, kStreamCamera = 1002;

Optics nominal_optics() {
  Optics optics = low_power_optics();
  optics.upsampling = kCaptureUpsampling;
  return optics;
}

Optics true_optics(Optics optics, const CaptureFaults& faults) {
  optics.rotation_degrees += faults.rotation_degrees;
  optics.led_distance_mm *= faults.distance_factor;
  optics.x_offset_mm += faults.x_offset_mm;
  optics.y_offset_mm += faults.y_offset_mm;
  optics.defocus_m += faults.defocus_m;
  return optics;
}

std::vector<GridPoint> true_places(std::vector<GridPoint> leds, const CaptureFaults& faults) {
  for (GridPoint& led : leds) {
    if (faults.mirrored) led.x = -led.x;
    if (faults.swapped) std::swap(led.x, led.y);
  }
  return leds;
}

// Blobs that absorb and delay light, some with sharp edges, on a clear field.
Vector<Complex> sample_image(std::uint64_t seed) {
  Random random(seed, kStreamSample);
  RowMatrix<double> density = RowMatrix<double>::Zero(kHigh, kHigh);
  RowMatrix<double> delay = RowMatrix<double>::Zero(kHigh, kHigh);
  constexpr auto kSide = static_cast<double>(kHigh);
  for (int blob = 0; blob < 60; ++blob) {
    const double row = kSide * random.uniform(), col = kSide * random.uniform();
    const double size = 2 + 10 * random.uniform() * random.uniform();
    const double dense = 0.5 * random.uniform(), late = 1.2 * (random.uniform() - 0.3);
    const bool sharp = random.uniform() < 0.5;
    for (Index r = 0; r < kHigh; ++r)
      for (Index c = 0; c < kHigh; ++c) {
        // The field is periodic.
        const double dr = std::remainder(static_cast<double>(r) - row, kSide);
        const double dc = std::remainder(static_cast<double>(c) - col, kSide);
        const double square = (dr * dr + dc * dc) / (size * size);
        const double height =
            sharp ? 1 / (1 + std::exp(4 * (std::sqrt(square) - 1) * size / 2)) : std::exp(-square);
        density(r, c) += dense * height;
        delay(r, c) += late * height;
      }
  }
  Vector<Complex> image(kHigh * kHigh);
  for (Index i = 0; i < image.size(); ++i)
    image(i) = std::polar(static_cast<float>(std::exp(-density.data()[i])),
                          static_cast<float>(delay.data()[i]));
  return image;
}

// The pupil with its middle `down` and `right` samples from frequency 0.
RowMatrix<std::complex<double>> aberrated_pupil(const Optics& optics, double radians, double down,
                                                double right) {
  RowMatrix<std::complex<double>> values =
      RowMatrix<std::complex<double>>::Zero(kCaptureSize, kCaptureSize);
  const double radius = optics.numerical_aperture * static_cast<double>(kCaptureSize) *
                        optics.pixel_m / optics.wavelength_m;
  const double k0 = 2 * std::numbers::pi / optics.wavelength_m;
  for (Index r = 0; r < values.rows(); ++r)
    for (Index c = 0; c < values.cols(); ++c) {
      const double y = (static_cast<double>(r - kCaptureSize / 2) - down) / radius;
      const double x = (static_cast<double>(c - kCaptureSize / 2) - right) / radius;
      const double rho2 = x * x + y * y;
      if (rho2 > 1) continue;
      const double bend = (x * x - y * y) + x * (3 * rho2 - 2) + rho2 * rho2;
      const double kz = k0 * std::sqrt(1 - rho2 * std::pow(optics.numerical_aperture, 2));
      values(r, c) = std::polar(1.0, radians * bend + optics.defocus_m * kz);
    }
  return values;
}

// The image with a phase that rises by these whole turns from side to side.
Vector<Complex> tilted(const Vector<Complex>& image, double rows, double cols) {
  Vector<Complex> result(image.size());
  for (Index r = 0; r < kHigh; ++r)
    for (Index c = 0; c < kHigh; ++c) {
      const double turns = (rows * static_cast<double>(r) + cols * static_cast<double>(c)) /
                           static_cast<double>(kHigh);
      const double angle = 2 * std::numbers::pi * turns;
      result(r * kHigh + c) = image(r * kHigh + c) * Complex(static_cast<float>(std::cos(angle)),
                                                             static_cast<float>(std::sin(angle)));
    }
  return result;
}

// The spectrum of an image that is moved by these pixels.
Vector<Complex> moved(const Vector<Complex>& spectrum, double rows, double cols) {
  Vector<Complex> result(spectrum.size());
  for (Index r = 0; r < kHigh; ++r)
    for (Index c = 0; c < kHigh; ++c) {
      const double turns =
          (rows * static_cast<double>(r - kHigh / 2) + cols * static_cast<double>(c - kHigh / 2)) /
          static_cast<double>(kHigh);
      const double angle = -2 * std::numbers::pi * turns;
      result(r * kHigh + c) =
          spectrum(r * kHigh + c) *
          Complex(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    }
  return result;
}

// Intensities of one image. The window moves by whole samples; what is left moves the pupil.
Vector<double> expose(const Vector<Complex>& spectrum, const Optics& optics, double aberration,
                      const Illumination& light) {
  const double samples = static_cast<double>(kCaptureSize) * optics.pixel_m / optics.wavelength_m;
  const double down = -light.ky * samples, right = -light.kx * samples;
  const double rows = std::round(down), cols = std::round(right);
  const Index corner = (kHigh - kCaptureSize) / 2;
  const Window window{corner + static_cast<Index>(rows), corner + static_cast<Index>(cols)};
  const Operator op(kHigh, kHigh, {window},
                    aberrated_pupil(optics, aberration, down - rows, right - cols));
  RowMatrix<Complex> fields;
  op.project(RowMatrix<Complex>(spectrum), fields);
  return fields.col(0).cwiseAbs2().cast<double>();
}

double poisson(double mean, Random& random) {
  if (mean > 50) return std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal()));
  const double limit = std::exp(-mean);
  double product = random.uniform(), count = 0;
  while (product > limit) {
    product *= random.uniform();
    ++count;
  }
  return count;
}

// Typical intensity of bright images.
double bright_level(const std::vector<Vector<double>>& images) {
  double brightest = 0;
  for (const auto& image : images) brightest = std::max(brightest, image.mean());
  return brightest;
}

void spoil_pixels(std::vector<Vector<double>>& images, const CaptureFaults& faults, double level,
                  Random& random, std::vector<Index>& bad) {
  const auto places = random.permutation(kCaptureSize * kCaptureSize);
  for (int i = 0; i < faults.hot_pixels + faults.dead_pixels; ++i) {
    bad.push_back(places[static_cast<size_t>(i)]);
    const bool hot = i < faults.hot_pixels;
    const double value = hot ? level * (1 + random.uniform()) : 0;
    for (auto& image : images) image(bad.back()) = value;
  }
  std::sort(bad.begin(), bad.end());
}

// The level that this share of the pixels of bright images reaches.
double full_level(const std::vector<Vector<double>>& images, double level, double share) {
  std::vector<double> pixels;
  for (const auto& image : images)
    if (image.mean() > 0.5 * level) pixels.insert(pixels.end(), image.begin(), image.end());
  std::sort(pixels.begin(), pixels.end());
  const auto at = static_cast<size_t>((1 - share) * static_cast<double>(pixels.size() - 1));
  return pixels[at];
}

void spoil(std::vector<Vector<double>>& images, const CaptureFaults& faults, Random& random,
           std::vector<Index>& bad) {
  const double level = bright_level(images);
  for (auto& image : images) {
    image *= 1 + faults.brightness_spread * (2 * random.uniform() - 1);
    if (image.mean() < 0.1 * level) image *= faults.dark_exposure * faults.dark_exposure;
    image.array() += faults.background * level;
    if (faults.counts > 0)
      for (double& value : image)
        value = poisson(value * faults.counts / level, random) * level / faults.counts;
  }
  if (faults.saturated_share > 0) {
    const double full = full_level(images, level, faults.saturated_share);
    for (auto& image : images) image = image.cwiseMin(full);
  }
  spoil_pixels(images, faults, level, random, bad);
}

}  // namespace

Capture simulate_capture(const CaptureFaults& faults, std::uint64_t seed) {
  Capture made;
  made.nominal = nominal_optics();
  made.truth = true_optics(made.nominal, faults);
  made.leds = raster_order(2 * kReach + 1, 2 * kReach + 1);
  const auto lights = illuminations(made.truth, true_places(made.leds, faults));
  const Operator middle(kHigh, kHigh, {{(kHigh - kCaptureSize) / 2, (kHigh - kCaptureSize) / 2}},
                        aberrated_pupil(made.truth, 0, 0, 0));
  made.spectrum = middle.from_image(sample_image(seed));
  std::vector<Vector<double>> images;
  for (const Illumination& light : lights)
    images.push_back(expose(made.spectrum, made.truth, faults.aberration, light));
  Random random(seed, kStreamCamera);
  spoil(images, faults, random, made.bad_pixels);
  made.images = {
      static_cast<Index>(images.size()), kCaptureSize, kCaptureSize, ImageKind::kIntensity, {}};
  for (const auto& one : images)
    made.images.values.insert(made.images.values.end(), one.begin(), one.end());
  return made;
}

namespace {

// Largest value of f over steps along each coordinate, which halve where none helps.
Vector<double> climb(const std::function<double(const Vector<double>&)>& f, Vector<double> at,
                     Vector<double> step, int halvings) {
  double best = f(at);
  for (int left = halvings; left > 0;) {
    bool higher = false;
    for (Index i = 0; i < at.size(); ++i)
      for (const double sign : {1.0, -1.0}) {
        Vector<double> next = at;
        next(i) += sign * step(i);
        if (const double value = f(next); value > best) {
          best = value;
          at = next;
          higher = true;
        }
      }
    if (higher) continue;
    step /= 2;
    --left;
  }
  return at;
}

}  // namespace

double capture_error(const Capture& capture, const Operator& op, const Vector<Complex>& found) {
  const Vector<float> light = op.diagonal(Vector<float>::Ones(op.num_measurements()));
  const auto seen = [&](const Vector<Complex>& x) -> Vector<Complex> {
    return (light.array() > 0).select(x, Vector<Complex>::Zero(x.size()));
  };
  const Vector<Complex> truth = seen(capture.spectrum);
  const auto placed = [&](const Vector<double>& p) {
    const Vector<Complex> x = moved(found, p(0), p(1));
    if (p(2) == 0 && p(3) == 0) return seen(x);
    return seen(op.from_image(tilted(op.to_image(x), p(2), p(3))));
  };
  const auto overlap = [&](const Vector<double>& p) {
    const Vector<Complex> x = placed(p);
    return static_cast<double>(std::abs(x.dot(truth))) / static_cast<double>(x.norm());
  };
  Vector<double> start = Vector<double>::Zero(4), step(4);
  step << 1, 1, 1, 1;
  const Vector<Complex> best = placed(climb(overlap, start, step, 6));
  const Complex scale = best.dot(truth) / Complex(best.squaredNorm(), 0);
  return static_cast<double>((scale * best - truth).norm()) / static_cast<double>(truth.norm());
}

}  // namespace udv::testing

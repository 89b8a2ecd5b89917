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
Vector<Complex> sample_image(std::uint64_t seed, Index side, int blobs) {
  Random random(seed, kStreamSample);
  RowMatrix<double> density = RowMatrix<double>::Zero(side, side);
  RowMatrix<double> delay = RowMatrix<double>::Zero(side, side);
  const auto length = static_cast<double>(side);
  for (int blob = 0; blob < blobs; ++blob) {
    const double row = length * random.uniform(), col = length * random.uniform();
    const double size = 2 + 10 * random.uniform() * random.uniform();
    const double dense = 0.5 * random.uniform(), late = 1.2 * (random.uniform() - 0.3);
    const bool sharp = random.uniform() < 0.5;
    // Beyond this distance a blob is nothing, to single precision.
    const Index reach = std::min(side / 2, static_cast<Index>(std::ceil(6 * size + 12)));
    const Index top = static_cast<Index>(row) - reach, left = static_cast<Index>(col) - reach;
    for (Index y = top; y < top + std::min(side, 2 * reach + 1); ++y)
      for (Index x = left; x < left + std::min(side, 2 * reach + 1); ++x) {
        // The field is periodic.
        const Index r = (y % side + side) % side, c = (x % side + side) % side;
        const double dr = std::remainder(static_cast<double>(r) - row, length);
        const double dc = std::remainder(static_cast<double>(c) - col, length);
        const double square = (dr * dr + dc * dc) / (size * size);
        const double height =
            sharp ? 1 / (1 + std::exp(4 * (std::sqrt(square) - 1) * size / 2)) : std::exp(-square);
        density(r, c) += dense * height;
        delay(r, c) += late * height;
      }
  }
  Vector<Complex> image(side * side);
  for (Index i = 0; i < image.size(); ++i)
    image(i) = std::polar(static_cast<float>(std::exp(-density.data()[i])),
                          static_cast<float>(delay.data()[i]));
  return image;
}

// The pupil with its middle `down` and `right` samples from frequency 0.
RowMatrix<std::complex<double>> aberrated_pupil(const Optics& optics, double radians, double down,
                                                double right, Index side = kCaptureSize) {
  RowMatrix<std::complex<double>> values = RowMatrix<std::complex<double>>::Zero(side, side);
  const double radius =
      optics.numerical_aperture * static_cast<double>(side) * optics.pixel_m / optics.wavelength_m;
  const double k0 = 2 * std::numbers::pi / optics.wavelength_m;
  for (Index r = 0; r < values.rows(); ++r)
    for (Index c = 0; c < values.cols(); ++c) {
      const double y = (static_cast<double>(r - side / 2) - down) / radius;
      const double x = (static_cast<double>(c - side / 2) - right) / radius;
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
  const auto places = random.permutation(images.front().size());
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
  made.spectrum = middle.from_image(sample_image(seed, kHigh, 60));
  made.pupil = aberrated_pupil(made.truth, faults.aberration, 0, 0);
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

namespace {

constexpr Index kPad = 24;  // pixels about a field that are not in its images
constexpr double kBlobsPerPixel = 60.0 / (192 * 192);

// exp(i k0 |r - LED|) over a field, the LED at (x, y, distance) in metres from its middle.
Vector<Complex> spherical_wave(Index side, double pixel, const Optics& optics, double x, double y) {
  const double k0 = 2 * std::numbers::pi / optics.wavelength_m;
  const double distance = 1e-3 * optics.led_distance_mm;
  Vector<Complex> wave(side * side);
  const double middle = 0.5 * static_cast<double>(side - 1);
  const double axis = std::hypot(x, y, distance);
  for (Index i = 0; i < wave.size(); ++i) {
    const double right = pixel * (static_cast<double>(i % side) - middle) - x;
    const double down = pixel * (static_cast<double>(i / side) - middle) - y;
    // Whole turns are taken off before the angle is rounded.
    const double path =
        (right * right + down * down - x * x - y * y) / (std::hypot(right, down, distance) + axis);
    const double angle = std::remainder(k0 * path, 2 * std::numbers::pi);
    wave(i) = Complex(std::polar(1.0, angle));
  }
  return wave;
}

// What images show of a field: the frequencies in the pupils of all LEDs.
Vector<Complex> shown_part(const Operator& op, const Vector<Complex>& image, const Optics& optics,
                           double pixel, const std::vector<Illumination>& lights) {
  Vector<Complex> spectrum = op.from_image(image);
  const Index rows = op.image_rows(), cols = op.image_cols();
  const double samples = static_cast<double>(rows) * pixel / optics.wavelength_m;
  for (Index i = 0; i < spectrum.size(); ++i) {
    const double y = static_cast<double>(i / cols - rows / 2) / samples;
    const double x = static_cast<double>(i % cols - cols / 2) / samples;
    const bool seen = std::any_of(lights.begin(), lights.end(), [&](const Illumination& light) {
      return std::hypot(x + light.kx, y + light.ky) <= optics.numerical_aperture;
    });
    if (!seen) spectrum(i) = 0;
  }
  return op.to_image(spectrum);
}

Operator fourier(Index side) {
  return Operator(side, side, {{0, 0}}, RowMatrix<std::complex<double>>::Ones(side, side));
}

}  // namespace

FieldCapture simulate_field(const CaptureFaults& faults, Index side, std::uint64_t seed) {
  FieldCapture made;
  PtychographyField& field = made.field;
  field.optics = nominal_optics();
  field.leds = raster_order(8, 8);
  const Optics truth = true_optics(field.optics, faults);
  const Index low = side + 2 * kPad, high = low * kCaptureUpsampling;
  const double pixel = truth.pixel_m / kCaptureUpsampling;
  const int blobs =
      static_cast<int>(kBlobsPerPixel * static_cast<double>(high) * static_cast<double>(high));
  const Vector<Complex> sample = sample_image(seed, high, blobs);
  const Index corner = (high - low) / 2;
  const Operator op(high, high, {{corner, corner}},
                    aberrated_pupil(truth, faults.aberration, 0, 0, low));
  const double turn = truth.rotation_degrees * std::numbers::pi / 180;
  std::vector<Vector<double>> images;
  for (const GridPoint& led : true_places(field.leds, faults)) {
    const double x = 1e-3 * (led.x * truth.led_pitch_mm + truth.x_offset_mm);
    const double y = 1e-3 * (led.y * truth.led_pitch_mm + truth.y_offset_mm);
    const Vector<Complex> wave =
        spherical_wave(high, pixel, truth, x * std::cos(turn) - y * std::sin(turn),
                       x * std::sin(turn) + y * std::cos(turn));
    RowMatrix<Complex> fields;
    op.project(RowMatrix<Complex>(op.from_image(sample.cwiseProduct(wave))), fields);
    Vector<double> image(side * side);
    for (Index i = 0; i < image.size(); ++i)
      image(i) = std::norm(fields((i / side + kPad) * low + i % side + kPad, 0));
    images.push_back(std::move(image));
  }
  Random random(seed, kStreamCamera);
  std::vector<Index> bad;
  spoil(images, faults, random, bad);
  field.images = {static_cast<Index>(images.size()), side, side, ImageKind::kIntensity, {}};
  for (const auto& one : images)
    field.images.values.insert(field.images.values.end(), one.begin(), one.end());
  const Vector<Complex> shown = shown_part(fourier(high), sample, truth, pixel,
                                           illuminations(truth, true_places(field.leds, faults)));
  const Index first = kPad * kCaptureUpsampling, size = side * kCaptureUpsampling;
  made.sample = Eigen::Map<const RowMatrix<Complex>>(shown.data(), high, high)
                    .block(first, first, size, size);
  return made;
}

namespace {

// Two images of one size, the second one moved by whole and parts of pixels and tilted.
class Alignment {
 public:
  Alignment(const RowMatrix<Complex>& truth, const RowMatrix<Complex>& found)
      : truth_(truth), op_(fourier(found.rows())) {
    spectrum_ = op_.from_image(Eigen::Map<const Vector<Complex>>(found.data(), found.size()));
  }

  // Rows and columns moved, and turns of the phase over the whole image.
  RowMatrix<Complex> placed(const Vector<double>& p) const {
    const Index side = truth_.rows();
    Vector<Complex> x = spectrum_;
    for (Index i = 0; i < x.size(); ++i) {
      const double turns = (p(0) * static_cast<double>(i / side - side / 2) +
                            p(1) * static_cast<double>(i % side - side / 2)) /
                           static_cast<double>(side);
      x(i) *= Complex(std::polar(1.0, -2 * std::numbers::pi * turns));
    }
    const Vector<Complex> image = op_.to_image(x);
    RowMatrix<Complex> result(side, side);
    for (Index i = 0; i < x.size(); ++i) {
      const double turns =
          (p(2) * static_cast<double>(i / side) + p(3) * static_cast<double>(i % side)) /
          static_cast<double>(side);
      result.data()[i] = image(i) * Complex(std::polar(1.0, 2 * std::numbers::pi * turns));
    }
    return result;
  }

  double overlap(const Vector<double>& p) const {
    const RowMatrix<Complex> x = placed(p);
    return std::abs(x.conjugate().cwiseProduct(truth_).sum()) / x.norm();
  }

 private:
  const RowMatrix<Complex>& truth_;
  Operator op_;
  Vector<Complex> spectrum_;
};

// Distance of a line of pixels from the nearest middle line of an overlap, in pixels.
std::vector<double> seam_distances(const TileGrid& grid, bool down, Index size, Index upsampling) {
  std::vector<double> lines;
  const Index count = down ? grid.down : grid.across;
  for (Index k = 0; k + 1 < count; ++k) {
    const Tile& one = grid.tiles[static_cast<size_t>(down ? grid.at(k, 0) : grid.at(0, k))];
    const Tile& next =
        grid.tiles[static_cast<size_t>(down ? grid.at(k + 1, 0) : grid.at(0, k + 1))];
    const Index end = down ? one.row + one.rows : one.col + one.cols;
    const Index begin = down ? next.row : next.col;
    lines.push_back(0.5 * static_cast<double>((begin + end) * upsampling));
  }
  std::vector<double> distances(static_cast<size_t>(size), 1e9);
  for (Index i = 0; i < size; ++i)
    for (const double line : lines)
      distances[static_cast<size_t>(i)] = std::min(distances[static_cast<size_t>(i)],
                                                   std::abs(static_cast<double>(i) + 0.5 - line));
  return distances;
}

}  // namespace

FieldErrors field_errors(const FieldCapture& capture, const TileGrid& grid,
                         const RowMatrix<Complex>& found) {
  constexpr double kNear = 6;  // pixels from the middle line of an overlap
  const Index border = 3 * 8;  // pixels at the edge of the field that are not judged
  const RowMatrix<Complex>& truth = capture.sample;
  const Alignment alignment(truth, found);
  Vector<double> start = Vector<double>::Zero(4), step = Vector<double>::Ones(4);
  const auto best =
      climb([&](const Vector<double>& p) { return alignment.overlap(p); }, start, step, 6);
  RowMatrix<Complex> x = alignment.placed(best);
  const Complex scale = x.conjugate().cwiseProduct(truth).sum() / Complex(x.squaredNorm(), 0);
  x *= scale;
  const auto rows = seam_distances(grid, true, x.rows(), kCaptureUpsampling);
  const auto cols = seam_distances(grid, false, x.cols(), kCaptureUpsampling);
  double square[2] = {0, 0}, norm[2] = {0, 0}, steps[2] = {0, 0}, counts[2] = {0, 0};
  for (Index r = border; r + border < x.rows(); ++r)
    for (Index c = border; c + border < x.cols(); ++c) {
      const double near = std::min(rows[static_cast<size_t>(r)], cols[static_cast<size_t>(c)]);
      const int place = near < kNear ? 1 : 0;
      square[place] += std::norm(x(r, c) - truth(r, c));
      norm[place] += std::norm(truth(r, c));
      const Complex here = x(r, c) * std::conj(truth(r, c));
      for (const Complex next :
           {x(r + 1, c) * std::conj(truth(r + 1, c)), x(r, c + 1) * std::conj(truth(r, c + 1))}) {
        const double angle = std::arg(next * std::conj(here));
        steps[place] += angle * angle;
        ++counts[place];
      }
    }
  FieldErrors errors;
  errors.error = std::sqrt((square[0] + square[1]) / (norm[0] + norm[1]));
  errors.seams = norm[1] > 0 ? std::sqrt(square[1] / norm[1]) : 0;
  errors.inside = std::sqrt(square[0] / norm[0]);
  errors.steps_at_seams = counts[1] > 0 ? std::sqrt(steps[1] / counts[1]) : 0;
  errors.steps = std::sqrt(steps[0] / counts[0]);
  return errors;
}

}  // namespace udv::testing

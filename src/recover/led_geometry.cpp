// SPDX-License-Identifier: MIT
#include "udv/recover/led_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/require.hpp"
#include "recover/bad_pixels.hpp"
#include "recover/geometry_simplex.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr double kEdge = 3;    // steepness of a circle's edge per sample
constexpr double kMiddle = 2;  // samples about frequency 0 that are left out
constexpr int kSimplexSteps = 160;
constexpr double kOffsetStep = 1 / 150.0;  // of the LEDs, as a share of their distance
// Scores of another NA that tell: times that of the setup's, and at least.
constexpr double kClearly = 1.1, kLeastScore = 0.2;

// The middle of the images, hot and dead pixels filled from their neighbours.
class MiddleOfImages {
 public:
  MiddleOfImages(const ImageStack& images, Index side) : side_(side), count_(images.images) {
    const Index top = (images.rows - side) / 2, left = (images.cols - side) / 2;
    amplitudes_.reserve(static_cast<size_t>(count_ * pixels()));
    for (Index l = 0; l < count_; ++l)
      for (Index r = 0; r < side; ++r)
        for (Index c = 0; c < side; ++c)
          amplitudes_.push_back(static_cast<float>(amplitude(images, l, top + r, left + c)));
    const auto bad = find_bad_pixels({amplitudes_.data(), count_, side, side});
    for (Index l = 0; l < count_ && !bad.empty(); ++l)
      fill_from_neighbours(amplitudes_.data() + l * pixels(), side, side, bad);
  }

  Index side() const { return side_; }
  /// Intensities.
  RowMatrix<double> image(Index l) const {
    return Eigen::Map<const RowMatrix<float>>(amplitudes_.data() + l * pixels(), side_, side_)
        .cast<double>()
        .cwiseAbs2();
  }
  std::vector<double> mean_intensities() const {
    std::vector<double> means;
    for (Index l = 0; l < count_; ++l) means.push_back(image(l).mean());
    return means;
  }

 private:
  static double amplitude(const ImageStack& images, Index l, Index r, Index c) {
    const double value =
        images.values[static_cast<size_t>((l * images.rows + r) * images.cols + c)];
    return images.kind == ImageKind::kAmplitude ? value : std::sqrt(value);
  }
  Index pixels() const { return side_ * side_; }

  Index side_, count_;
  std::vector<float> amplitudes_;
};

// Images of at least so much light.
constexpr double kBrightShare = 0.7;  // of the third brightest image

std::vector<Index> bright_images(const std::vector<double>& means) {
  std::vector<double> sorted = means;
  std::sort(sorted.rbegin(), sorted.rend());
  const double level = kBrightShare * sorted[std::min<size_t>(2, sorted.size() - 1)];
  std::vector<Index> bright;
  for (size_t l = 0; l < means.size(); ++l)
    if (means[l] > level) bright.push_back(static_cast<Index>(l));
  return bright;
}

// log |FFT((I / mean - 1) w)| with the window w = sqrt(Hann), centred.
RowMatrix<double> log_spectrum(const RowMatrix<double>& image) {
  using Complex = std::complex<double>;
  const Index side = image.rows();
  const PtychographyOperator<Complex> fourier(side, side, {{0, 0}},
                                              RowMatrix<Complex>::Ones(side, side));
  const auto window = [&](Index i) {
    return std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(side));
  };
  const double mean = image.mean();
  Vector<Complex> values(side * side);
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c)
      values(r * side + c) = (image(r, c) / mean - 1) * window(r) * window(c);
  const Vector<Complex> spectrum = fourier.from_image(values);
  RowMatrix<double> logs(side, side);
  for (Index i = 0; i < logs.size(); ++i) logs.data()[i] = std::log(std::abs(spectrum(i)) + 1e-6);
  return logs;
}

// One column per image, one row per frequency of the upper half; those near 0 are left out.
class CircleScore {
 public:
  CircleScore(const MiddleOfImages& images, const std::vector<Index>& bright,
              const std::vector<GridPoint>& leds, const Optics& optics)
      : side_(images.side()) {
    const auto side = static_cast<double>(side_);
    samples_ = side * optics.pixel_m / optics.wavelength_m;
    for (const Index l : bright) leds_.push_back(leds[static_cast<size_t>(l)]);
    choose_frequencies();
    spectra_.resize(static_cast<Index>(rows_.size()), static_cast<Index>(bright.size()));
    for (size_t l = 0; l < bright.size(); ++l) {
      const RowMatrix<double> logs = log_spectrum(images.image(bright[l]));
      for (size_t i = 0; i < rows_.size(); ++i)
        spectra_(static_cast<Index>(i), static_cast<Index>(l)) =
            logs(rows_[i] + side_ / 2, cols_[i] + side_ / 2);
    }
    centre(spectra_);
    spectra_.rowwise() -= spectra_.colwise().mean().eval();
    norm_ = spectra_.norm();
  }

  // Correlation of the spectra with the circles of these optics.
  double operator()(const Optics& optics) const {
    const auto lights = illuminations(optics, leds_);
    Matrix<double> discs(spectra_.rows(), spectra_.cols());
    parallel_blocks(discs.cols(), 1, [&](Index begin, Index end) {
      for (Index l = begin; l < end; ++l)
        draw(lights[static_cast<size_t>(l)], optics.numerical_aperture * samples_, discs, l);
    });
    centre(discs);
    const double size = discs.norm() * norm_;
    return size > 0 ? discs.cwiseProduct(spectra_).sum() / size : 0;
  }

 private:
  void choose_frequencies() {
    for (Index r = -side_ / 2; r <= 0; ++r)
      for (Index c = -side_ / 2; c < side_ - side_ / 2; ++c)
        if (std::hypot(static_cast<double>(r), static_cast<double>(c)) > kMiddle) {
          rows_.push_back(r);
          cols_.push_back(c);
        }
  }

  // What all images have in common says nothing.
  static void centre(Matrix<double>& columns) {
    columns.colwise() -= columns.rowwise().mean().eval();
  }

  // Distances are those on a torus: intensities alias.
  double distance2(double r, double c) const {
    const auto side = static_cast<double>(side_);
    const double dr = std::remainder(r, side), dc = std::remainder(c, side);
    return dr * dr + dc * dc;
  }

  void draw(const Illumination& light, double radius, Matrix<double>& discs, Index l) const {
    const double row = light.ky * samples_, col = light.kx * samples_;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto r = static_cast<double>(rows_[i]), c = static_cast<double>(cols_[i]);
      const double nearest =
          std::sqrt(std::min(distance2(r - row, c - col), distance2(r + row, c + col)));
      discs(static_cast<Index>(i), l) = 1 / (1 + std::exp(kEdge * (nearest - radius)));
    }
  }

  Index side_;
  double samples_ = 0, norm_ = 0;
  std::vector<GridPoint> leds_;
  std::vector<Index> rows_, cols_;
  Matrix<double> spectra_;
};

// The best of 4 orientations, 9 rotations and 3 distances.
Optics coarse_geometry(const CircleScore& score, const Optics& setup) {
  Optics best = setup;
  double highest = score(setup);
  for (const bool mirrored : {false, true})
    for (const bool swapped : {false, true})
      for (int turn = -4; turn <= 4; ++turn)
        for (const double factor : {0.0, -0.12, 0.12}) {
          Optics optics = changed(setup, GeometryChange(5.0 * turn, factor, 0, 0));
          optics.mirrored = setup.mirrored != mirrored;
          optics.swapped = setup.swapped != swapped;
          if (const double value = score(optics); value > highest) {
            highest = value;
            best = optics;
          }
        }
  return best;
}

// The NA whose circles fit clearly better than those of the setup's, which else it is. In the
// geometry of the setup, too: that found for a wrong NA is another wrong one.
double seen_aperture(const CircleScore& score, const Optics& setup, const LedGeometry& found) {
  double seen = setup.numerical_aperture, highest = std::max(kClearly * found.score, kLeastScore);
  for (const double factor : {0.85, 0.9, 0.95, 1.05, 1.1, 1.15})
    for (Optics optics : {setup, found.optics}) {
      optics.numerical_aperture = factor * setup.numerical_aperture;
      if (const double value = score(optics); value > highest) {
        highest = value;
        seen = optics.numerical_aperture;
      }
    }
  return seen;
}

}  // namespace

LedGeometry find_led_geometry(const ImageStack& images, const Optics& setup,
                              const std::vector<GridPoint>& leds) {
  setup.validate();
  require(static_cast<Index>(leds.size()) == images.images, leds.size(), " LEDs found, ",
          images.images, " expected, one for each image");
  LedGeometry found{setup, 0, 0, 0, setup.numerical_aperture};
  const Index side = std::min({images.rows, images.cols, kCalibrationSide}) / 2 * 2;
  if (side < kSmallestCalibrationSide) return found;
  const MiddleOfImages middle(images, side);
  const auto bright = bright_images(middle.mean_intensities());
  found.bright_images = static_cast<Index>(bright.size());
  if (found.bright_images < 3) return found;
  const CircleScore score(middle, bright, leds, setup);
  found.setup_score = score(setup);
  const Optics coarse = coarse_geometry(score, setup);
  const double offset = kOffsetStep * setup.led_distance_mm;
  const GeometryChange best =
      climb([&](const GeometryChange& change) { return score(changed(coarse, change)); },
            GeometryChange::Zero(), GeometryChange(3, 0.06, offset, offset), kSimplexSteps);
  found.optics = changed(coarse, best);
  found.score = score(found.optics);
  found.numerical_aperture = seen_aperture(score, setup, found);
  return found;
}

}  // namespace udv

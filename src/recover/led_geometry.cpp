// SPDX-License-Identifier: MIT
#include "udv/recover/led_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/require.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kSmallestSide = 48;   // fewer pixels do not tell distances
constexpr double kBrightShare = 0.7;  // of the third brightest image
constexpr double kEdge = 3;           // steepness of a circle's edge per sample
constexpr double kMiddle = 2;         // samples about frequency 0 that are left out
constexpr int kSimplexSteps = 160;

// Intensities of the middle of one image, and its LED.
struct BrightImage {
  RowMatrix<double> pixels;
  GridPoint led;
};

double intensity(const ImageStack& images, Index l, Index r, Index c) {
  const double value = images.values[static_cast<size_t>((l * images.rows + r) * images.cols + c)];
  return images.kind == ImageKind::kAmplitude ? value * value : value;
}

RowMatrix<double> middle_of(const ImageStack& images, Index l, Index side) {
  RowMatrix<double> pixels(side, side);
  const Index top = (images.rows - side) / 2, left = (images.cols - side) / 2;
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) pixels(r, c) = intensity(images, l, top + r, left + c);
  return pixels;
}

std::vector<BrightImage> bright_images(const ImageStack& images, const std::vector<GridPoint>& leds,
                                       Index side) {
  std::vector<BrightImage> all;
  std::vector<double> means;
  for (Index l = 0; l < images.images; ++l) {
    all.push_back({middle_of(images, l, side), leds[static_cast<size_t>(l)]});
    means.push_back(all.back().pixels.mean());
  }
  std::vector<double> sorted = means;
  std::sort(sorted.rbegin(), sorted.rend());
  const double level = kBrightShare * sorted[std::min<size_t>(2, sorted.size() - 1)];
  std::vector<BrightImage> bright;
  for (size_t l = 0; l < all.size(); ++l)
    if (means[l] > level) bright.push_back(std::move(all[l]));
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
  CircleScore(const std::vector<BrightImage>& bright, const Optics& optics)
      : side_(bright.front().pixels.rows()) {
    const auto side = static_cast<double>(side_);
    samples_ = side * optics.pixel_m / optics.wavelength_m;
    radius_ = optics.numerical_aperture * samples_;
    for (const BrightImage& image : bright) leds_.push_back(image.led);
    choose_frequencies();
    spectra_.resize(static_cast<Index>(rows_.size()), static_cast<Index>(bright.size()));
    for (size_t l = 0; l < bright.size(); ++l) {
      const RowMatrix<double> logs = log_spectrum(bright[l].pixels);
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
      for (Index l = begin; l < end; ++l) draw(lights[static_cast<size_t>(l)], discs, l);
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

  void draw(const Illumination& light, Matrix<double>& discs, Index l) const {
    const double row = light.ky * samples_, col = light.kx * samples_;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto r = static_cast<double>(rows_[i]), c = static_cast<double>(cols_[i]);
      const double nearest =
          std::sqrt(std::min(distance2(r - row, c - col), distance2(r + row, c + col)));
      discs(static_cast<Index>(i), l) = 1 / (1 + std::exp(kEdge * (nearest - radius_)));
    }
  }

  Index side_;
  double samples_ = 0, radius_ = 0, norm_ = 0;
  std::vector<GridPoint> leds_;
  std::vector<Index> rows_, cols_;
  Matrix<double> spectra_;
};

// Rotation in degrees, logarithm of the distance's factor, offsets in mm.
using Place = Eigen::Matrix<double, 4, 1, Eigen::DontAlign>;

Optics placed(Optics optics, const Place& place) {
  optics.rotation_degrees += place(0);
  optics.led_distance_mm *= std::exp(std::clamp(place(1), -1.0, 1.0));
  optics.x_offset_mm += place(2);
  optics.y_offset_mm += place(3);
  return optics;
}

// The simplex method of Nelder and Mead for a maximum.
Place climb(const std::function<double(const Place&)>& f, const Place& start, const Place& steps) {
  std::vector<std::pair<double, Place>> simplex{{f(start), start}};
  for (int i = 0; i < 4; ++i) {
    Place corner = start;
    corner(i) += steps(i);
    simplex.emplace_back(f(corner), corner);
  }
  const auto higher = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (int step = 0; step < kSimplexSteps; ++step) {
    std::stable_sort(simplex.begin(), simplex.end(), higher);
    Place mean = Place::Zero();
    for (int i = 0; i < 4; ++i) mean += simplex[static_cast<size_t>(i)].second / 4;
    auto& worst = simplex.back();
    const auto at = [&](double t) {
      const Place p = mean + t * (worst.second - mean);
      return std::pair(f(p), p);
    };
    const auto reflected = at(-1);
    if (reflected.first > simplex.front().first) {
      const auto expanded = at(-2);
      worst = expanded.first > reflected.first ? expanded : reflected;
    } else if (reflected.first > simplex[3].first) {
      worst = reflected;
    } else if (const auto inner = at(0.5); inner.first > worst.first) {
      worst = inner;
    } else {
      for (int i = 1; i <= 4; ++i) {
        auto& corner = simplex[static_cast<size_t>(i)];
        corner.second = (corner.second + simplex.front().second) / 2;
        corner.first = f(corner.second);
      }
    }
  }
  return std::max_element(simplex.begin(), simplex.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

// The best of 4 orientations, 9 rotations and 3 distances.
Optics coarse_geometry(const CircleScore& score, const Optics& setup) {
  Optics best = setup;
  double highest = score(setup);
  for (const bool mirrored : {false, true})
    for (const bool swapped : {false, true})
      for (int turn = -4; turn <= 4; ++turn)
        for (const double factor : {0.0, -0.12, 0.12}) {
          Optics optics = placed(setup, Place(5.0 * turn, factor, 0, 0));
          optics.mirrored = setup.mirrored != mirrored;
          optics.swapped = setup.swapped != swapped;
          if (const double value = score(optics); value > highest) {
            highest = value;
            best = optics;
          }
        }
  return best;
}

}  // namespace

LedGeometry find_led_geometry(const ImageStack& images, const Optics& setup,
                              const std::vector<GridPoint>& leds) {
  setup.validate();
  require(static_cast<Index>(leds.size()) == images.images, leds.size(), " LEDs found, ",
          images.images, " expected, one for each image");
  LedGeometry found{setup, 0, 0, 0};
  const Index side = std::min({images.rows, images.cols, kCalibrationSide}) / 2 * 2;
  if (side < kSmallestSide) return found;
  const auto bright = bright_images(images, leds, side);
  found.bright_images = static_cast<Index>(bright.size());
  if (found.bright_images < 3) return found;
  const CircleScore score(bright, setup);
  found.setup_score = score(setup);
  const Optics coarse = coarse_geometry(score, setup);
  const Place best = climb([&](const Place& place) { return score(placed(coarse, place)); },
                           Place::Zero(), Place(3, 0.06, 0.6, 0.6));
  found.optics = placed(coarse, best);
  found.score = score(found.optics);
  return found;
}

}  // namespace udv

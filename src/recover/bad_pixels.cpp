// SPDX-License-Identifier: MIT
#include "recover/bad_pixels.hpp"

#include <algorithm>
#include <cmath>

#include "core/median.hpp"

namespace udv {
namespace {

constexpr double kBrightLevel = 0.5;  // of the third brightest image: bright field above it
constexpr Index kFewestImages = 8;    // to tell bad pixels by
constexpr double kQuantile = 0.1;     // of the images may disagree
constexpr double kHotDeviation = 3;   // z of a hot pixel in dark images
constexpr double kHotSpread = 0.5;    // of what it adds to them, between quartiles

// Median of the neighbours of a pixel, at most 8.
float neighbours(const float* image, Index rows, Index cols, Index r, Index c,
                 const std::vector<bool>& skip) {
  float values[8];
  int count = 0;
  for (Index y = std::max<Index>(r - 1, 0); y <= std::min(r + 1, rows - 1); ++y)
    for (Index x = std::max<Index>(c - 1, 0); x <= std::min(c + 1, cols - 1); ++x)
      if ((y != r || x != c) && (skip.empty() || !skip[static_cast<size_t>(y * cols + x)]))
        values[count++] = image[y * cols + x];
  if (count == 0) return image[r * cols + c];
  std::nth_element(values, values + count / 2, values + count);
  return values[count / 2];
}

// z = (a - median of neighbours) / spread of that over the image; empty where there is no spread.
Vector<float> deviations(const float* image, Index rows, Index cols) {
  Vector<float> z(rows * cols);
  for (Index i = 0; i < z.size(); ++i)
    z(i) = image[i] - neighbours(image, rows, cols, i / cols, i % cols, {});
  std::vector<double> sizes(z.begin(), z.end());
  for (double& size : sizes) size = std::abs(size);
  const double spread = 1.4826 * median_of(std::move(sizes));
  if (!(spread > 0)) return {};
  return z / static_cast<float>(spread);
}

// How far pixels are from their neighbours, in all images and in dark ones.
class PixelDeviations {
 public:
  explicit PixelDeviations(const AmplitudeStack& stack)
      : stack_(stack), rows_(stack.rows), cols_(stack.cols) {
    std::vector<double> means;
    for (Index l = 0; l < stack.images; ++l)
      means.push_back(
          Eigen::Map<const Vector<float>>(image(l), rows_ * cols_).cast<double>().squaredNorm());
    std::vector<double> sorted = means;
    std::sort(sorted.rbegin(), sorted.rend());
    const double bright = kBrightLevel * sorted[std::min<size_t>(2, sorted.size() - 1)];
    for (Index l = 0; l < stack.images; ++l) {
      Vector<float> z = deviations(image(l), rows_, cols_);
      if (z.size() == 0) continue;
      if (means[static_cast<size_t>(l)] < bright) dark_.push_back({l, images_.size()});
      images_.push_back(std::move(z));
    }
  }

  // To the same side in nearly all images.
  bool is_bad(Index i) {
    if (static_cast<Index>(images_.size()) < kFewestImages) return false;
    values_.clear();
    for (const Vector<float>& z : images_) values_.push_back(z(i));
    return quantile(kQuantile) > 1 || quantile(1 - kQuantile) < -1 || is_hot(i);
  }

 private:
  // What a hot pixel adds is lost in bright images; dark ones all show it, and show the same. A
  // speck of the sample is brighter than its surroundings, too, but as its light falls.
  bool is_hot(Index i) {
    if (static_cast<Index>(dark_.size()) < kFewestImages) return false;
    values_.clear();
    for (const auto& [l, place] : dark_) values_.push_back(images_[place](i));
    if (quantile(kQuantile) <= kHotDeviation) return false;
    values_.clear();
    for (const auto& [l, place] : dark_) {
      const float around = neighbours(image(l), rows_, cols_, i / cols_, i % cols_, {});
      values_.push_back(image(l)[i] * image(l)[i] - around * around);
    }
    return quantile(0.75) - quantile(0.25) < kHotSpread * quantile(0.5);
  }

  const float* image(Index l) const { return stack_.values + l * rows_ * cols_; }

  // Of values_.
  float quantile(double share) {
    const auto from_below = [&](double part) {
      return static_cast<size_t>(part * static_cast<double>(values_.size()));
    };
    const size_t at = share <= 0.5 ? from_below(share) : values_.size() - 1 - from_below(1 - share);
    std::nth_element(values_.begin(), values_.begin() + static_cast<Index>(at), values_.end());
    return values_[at];
  }

  const AmplitudeStack stack_;
  Index rows_, cols_;
  std::vector<Vector<float>> images_;  // z of each image
  struct DarkImage {
    Index image;
    size_t place;  // in images_
  };
  std::vector<DarkImage> dark_;
  std::vector<float> values_;  // of one pixel, image by image
};

}  // namespace

std::vector<Index> find_bad_pixels(const AmplitudeStack& stack) {
  PixelDeviations deviations(stack);
  std::vector<Index> bad;
  for (Index i = 0; i < stack.rows * stack.cols; ++i)
    if (deviations.is_bad(i)) bad.push_back(i);
  return bad;
}

void fill_from_neighbours(float* image, Index rows, Index cols, const std::vector<Index>& pixels) {
  std::vector<bool> skip(static_cast<size_t>(rows * cols));
  for (const Index i : pixels) skip[static_cast<size_t>(i)] = true;
  for (const Index i : pixels) image[i] = neighbours(image, rows, cols, i / cols, i % cols, skip);
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "recover/bad_pixels.hpp"

#include <algorithm>
#include <cmath>

#include "core/median.hpp"

namespace udv {
namespace {

constexpr double kBrightLevel = 0.5;  // of the third brightest image: bright field above it
constexpr Index kFewestImages = 8;    // to tell bad pixels by
constexpr Index kFewestBright = 4;    // of them, to tell dead ones by
constexpr double kQuantile = 0.1;     // of the images may disagree
constexpr double kHotDeviation = 3;   // z of a hot pixel in dark images
constexpr double kHotSpread = 0.5;    // of what it adds to them, between quartiles
constexpr double kDeadShare = 0.5;    // of the second darkest neighbour: amplitude of a dead pixel

// The neighbours of a pixel, at most 8, from the darkest to the brightest.
template <typename Value>
class Neighbours {
 public:
  Neighbours(const Value* image, Index rows, Index cols, Index r, Index c,
             const std::vector<bool>& skip = {}) {
    for (Index y = std::max<Index>(r - 1, 0); y <= std::min(r + 1, rows - 1); ++y)
      for (Index x = std::max<Index>(c - 1, 0); x <= std::min(c + 1, cols - 1); ++x)
        if ((y != r || x != c) && (skip.empty() || !skip[static_cast<size_t>(y * cols + x)]))
          values_[count_++] = image[y * cols + x];
    std::sort(values_, values_ + count_);
  }
  bool empty() const { return count_ == 0; }
  Value median() const { return values_[count_ / 2]; }
  Value second_darkest() const { return values_[std::min(1, count_ - 1)]; }
  Value second_brightest() const { return values_[std::max(0, count_ - 2)]; }

 private:
  Value values_[8];
  int count_ = 0;
};

// One image, pixel by pixel: z = (a - median of neighbours) / spread of that over the image, and
// whether the pixel stands out: it is no darker than its second brightest neighbour (one of them
// may be hot, too), or no brighter than its second darkest one. Pixels on edges of the sample are
// far from the median as well, but some neighbours are like them.
struct Deviations {
  Vector<float> z;
  std::vector<bool> sticks_out;
};

// Without values where there is no spread.
Deviations deviations(const float* image, Index rows, Index cols) {
  Deviations found{Vector<float>(rows * cols), {}};
  for (Index i = 0; i < rows * cols; ++i) {
    const Neighbours<float> around(image, rows, cols, i / cols, i % cols);
    found.z(i) = image[i] - around.median();
    found.sticks_out.push_back(found.z(i) > 0 ? image[i] >= around.second_brightest()
                                              : image[i] <= around.second_darkest());
  }
  std::vector<double> sizes(found.z.begin(), found.z.end());
  for (double& size : sizes) size = std::abs(size);
  const double spread = 1.4826 * median_of(std::move(sizes));
  if (!(spread > 0)) return {};
  found.z /= static_cast<float>(spread);
  return found;
}

// How far pixels are from their neighbours, in all images and in bright and dark ones.
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
      const bool is_bright = means[static_cast<size_t>(l)] >= bright;
      if (is_bright) bright_.push_back(l);
      Deviations found = deviations(image(l), rows_, cols_);
      if (found.z.size() == 0) continue;
      if (!is_bright) dark_.push_back({l, images_.size()});
      images_.push_back(std::move(found));
    }
  }

  // To the same side in nearly all images.
  bool is_bad(Index i) {
    if (stack_.images < kFewestImages) return false;
    return is_dead(i) || is_far(i, 1) || is_far(i, -1) || is_hot(i);
  }

 private:
  // Brighter (sign 1) or darker (-1) than its neighbours.
  bool is_far(Index i, float sign) {
    if (static_cast<Index>(images_.size()) < kFewestImages) return false;
    values_.clear();
    Index out = 0;
    for (const Deviations& image : images_) {
      values_.push_back(sign * image.z(i));
      out += image.sticks_out[static_cast<size_t>(i)] && values_.back() >= 0;
    }
    const auto all = static_cast<double>(images_.size());
    return quantile(kQuantile) > 1 && static_cast<double>(out) >= (1 - kQuantile) * all;
  }

  // Dark images may show nothing around a dead pixel that it could lack.
  bool is_dead(Index i) const {
    if (static_cast<Index>(bright_.size()) < kFewestBright) return false;
    Index lacking = 0;
    for (const Index l : bright_)
      lacking += image(l)[i] < kDeadShare * around(l, i).second_darkest();
    return static_cast<double>(lacking) >= (1 - kQuantile) * static_cast<double>(bright_.size());
  }

  // What a hot pixel adds is lost in bright images; dark ones all show it, and show the same. A
  // speck of the sample is brighter than its surroundings, too, but as its light falls.
  bool is_hot(Index i) {
    if (static_cast<Index>(dark_.size()) < kFewestImages) return false;
    values_.clear();
    for (const auto& [l, place] : dark_) values_.push_back(images_[place].z(i));
    if (quantile(kQuantile) <= kHotDeviation) return false;
    values_.clear();
    for (const auto& [l, place] : dark_) {
      const float median = around(l, i).median();
      values_.push_back(image(l)[i] * image(l)[i] - median * median);
    }
    return quantile(0.75) - quantile(0.25) < kHotSpread * quantile(0.5);
  }

  const float* image(Index l) const { return stack_.values + l * rows_ * cols_; }
  Neighbours<float> around(Index l, Index i) const {
    return {image(l), rows_, cols_, i / cols_, i % cols_};
  }

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
  std::vector<Deviations> images_;
  struct DarkImage {
    Index image;
    size_t place;  // in images_
  };
  std::vector<DarkImage> dark_;
  std::vector<Index> bright_;  // images
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

template <typename Value>
void fill_from_neighbours(Value* image, Index rows, Index cols, std::vector<Index> pixels) {
  std::vector<bool> skip(static_cast<size_t>(rows * cols));
  for (const Index i : pixels) skip[static_cast<size_t>(i)] = true;
  // From the edges of larger areas inwards.
  while (!pixels.empty()) {
    std::vector<Index> filled, later;
    for (const Index i : pixels) {
      const Neighbours<Value> around(image, rows, cols, i / cols, i % cols, skip);
      if (!around.empty()) image[i] = around.median();
      (around.empty() ? later : filled).push_back(i);
    }
    if (filled.empty()) break;
    for (const Index i : filled) skip[static_cast<size_t>(i)] = false;
    pixels.swap(later);
  }
}

template void fill_from_neighbours(float*, Index, Index, std::vector<Index>);
template void fill_from_neighbours(double*, Index, Index, std::vector<Index>);

}  // namespace udv

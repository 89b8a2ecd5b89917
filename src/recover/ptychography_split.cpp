// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/require.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/ptychography_data.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using Operator = PtychographyOperator<Complex>;

constexpr double kMinimumCoverage = 0.99;

PtychographyImages some_images(const Operator& all, const PtychographyData& data,
                               const std::vector<Index>& which) {
  const Index pixels = all.pixels();
  PtychographyImages images;
  images.op = all.with_images(which);
  if (!data.exact.own.empty())
    images.exact = std::make_shared<Operator>(data.rows, data.cols, images.op->windows(),
                                              data.exact.pupil, data.exact.own.of(which));
  images.amplitudes.resize(pixels * static_cast<Index>(which.size()));
  if (data.weights.size() > 0) images.weights.resize(images.amplitudes.size());
  for (size_t i = 0; i < which.size(); ++i) {
    images.amplitudes.segment(static_cast<Index>(i) * pixels, pixels) =
        data.amplitudes.segment(which[i] * pixels, pixels);
    if (data.weights.size() > 0)
      images.weights.segment(static_cast<Index>(i) * pixels, pixels) =
          data.weights.segment(which[i] * pixels, pixels);
    images.dark.push_back(data.dark[static_cast<size_t>(which[i])]);
  }
  return images;
}

// choose_held_out(), whose error also says how many images were left out before.
std::vector<Index> held_out_of(const PtychographyData& data, const Operator& op, Index count,
                               std::uint64_t seed) {
  try {
    return choose_held_out(op, count, seed);
  } catch (const InvalidArgument& error) {
    const auto left_out = std::count_if(data.leds.begin(), data.leds.end(),
                                        [](const LedInfo& led) { return !led.left_out.empty(); });
    require(left_out == 0, error.what(), "; ", left_out, " of ", data.leds.size(),
            " images were left out before");
    throw;
  }
}

}  // namespace

PtychographySplit split_images(const PtychographyData& data, Index count, std::uint64_t seed) {
  const Operator all(data.rows, data.cols, data.windows, data.pupil);
  const auto held = count > 0 ? held_out_of(data, all, count, seed) : std::vector<Index>();
  std::vector<Index> used;
  for (Index l = 0; l < all.images(); ++l)
    if (!std::binary_search(held.begin(), held.end(), l)) used.push_back(l);
  PtychographySplit split;
  split.used = some_images(all, data, used);
  split.fitted = used;
  if (!held.empty()) split.held_out = some_images(all, data, held);
  return split;
}

std::vector<Index> choose_held_out(const Operator& op, Index count, std::uint64_t seed) {
  const std::vector<Index> order = Random(seed, kStreamHoldout).permutation(op.images());
  std::vector<Index> held;
  const auto used_without = [&](Index candidate) {
    std::vector<Index> used;
    for (Index l = 0; l < op.images(); ++l)
      if (l != candidate && std::find(held.begin(), held.end(), l) == held.end()) used.push_back(l);
    return used;
  };
  for (const Index candidate : order) {
    if (static_cast<Index>(held.size()) == count) break;
    const auto used = used_without(candidate);
    bool covered = coverage(op.pupil(), op.windows(), candidate, used) >= kMinimumCoverage;
    // Those chosen before must stay covered.
    for (const Index l : held)
      covered = covered && coverage(op.pupil(), op.windows(), l, used) >= kMinimumCoverage;
    if (covered) held.push_back(candidate);
  }
  require(static_cast<Index>(held.size()) == count, "holdout: only ", held.size(), " of ",
          op.images(), " images are covered by the others, ", count, " wanted");
  std::sort(held.begin(), held.end());
  return held;
}

RowMatrix<double> window_corners(const Operator& op) {
  RowMatrix<double> corners(op.images(), 2);
  for (Index l = 0; l < op.images(); ++l) {
    const Window& window = op.windows()[static_cast<size_t>(l)];
    corners.row(l) << static_cast<double>(window.row), static_cast<double>(window.col);
  }
  return corners;
}

// Measurements and residuals; all columns as factors, gradient, spectra and sums. A run of the
// gradient method alone has all of them in its result as well, where recover_image() keeps one.
double memory_estimate(const Operator& op, Index columns, bool gradient_alone) {
  const auto n = static_cast<double>(op.num_measurements()), p = static_cast<double>(op.rows());
  return 8 * 6 * n + 8 * p * static_cast<double>(columns) * (gradient_alone ? 20 : 10);
}

}  // namespace udv

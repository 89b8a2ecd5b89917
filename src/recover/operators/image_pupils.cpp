// SPDX-License-Identifier: MIT
#include "recover/operators/image_pupils.hpp"

#include <cmath>

#include "core/require.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using Transfer = RowMatrix<std::complex<double>>;

// |P| with the phase of sum_c w_c P(k + c); samples outside of the window are 0.
Transfer with_moved_phase(const Transfer& pupil, const SampleShift& shift) {
  const Index rows = pupil.rows(), cols = pupil.cols();
  const std::array<Corner, 4> corners = corners_of(shift);
  Transfer moved(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      std::complex<double> sum = 0;
      for (const Corner& at : corners) {
        const Index row = r + at.down, col = c + at.right;
        if (row >= 0 && row < rows && col >= 0 && col < cols) sum += at.weight * pupil(row, col);
      }
      const double size = std::abs(sum);
      moved(r, c) = size > 0 ? std::abs(pupil(r, c)) / size * sum : pupil(r, c);
    }
  return moved;
}

}  // namespace

std::array<Corner, 4> corners_of(const SampleShift& shift) {
  require(std::abs(shift.down) < 1 && std::abs(shift.right) < 1, "imaging: a pupil moved by (",
          shift.down, ", ", shift.right, ") samples, less than 1 expected");
  const double up = std::floor(-shift.down), left = std::floor(-shift.right);
  const double v = -shift.down - up, h = -shift.right - left;
  const auto row = static_cast<Index>(up), col = static_cast<Index>(left);
  return {{{row, col, (1 - v) * (1 - h)},
           {row, col + 1, (1 - v) * h},
           {row + 1, col, v * (1 - h)},
           {row + 1, col + 1, v * h}}};
}

Transfer pupil_of_image(const Transfer& pupil, const ImagePupils& own, Index l) {
  const auto at = static_cast<size_t>(l);
  Transfer seen = own.shifts.empty() ? pupil : with_moved_phase(pupil, own.shifts.at(at));
  if (own.supports.empty()) return seen;
  const RowMatrix<float>& support = own.supports.at(at);
  require(support.rows() == pupil.rows() && support.cols() == pupil.cols(),
          "imaging: a support is ", support.rows(), " x ", support.cols(), ", ", pupil.rows(),
          " x ", pupil.cols(), " expected, as the pupil");
  return seen.cwiseProduct(support.cast<std::complex<double>>());
}

std::vector<Transfer> pupils_of_images(const Transfer& pupil, const ImagePupils& own) {
  if (own.empty()) return {pupil};
  std::vector<Transfer> pupils(std::max(own.supports.size(), own.shifts.size()));
  parallel_blocks(static_cast<Index>(pupils.size()), 1, [&](Index begin, Index end) {
    for (Index l = begin; l < end; ++l)
      pupils[static_cast<size_t>(l)] = pupil_of_image(pupil, own, l);
  });
  return pupils;
}

}  // namespace udv

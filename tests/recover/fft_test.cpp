// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "recover/kernels/band_fft.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace fft_test {

using Complexes = std::vector<std::complex<double>>;

Complexes random_complexes(Index count, std::uint64_t seed) {
  const RowMatrix<double> parts = testing::random_rows<double>(count, 2, seed);
  Complexes values;
  for (Index i = 0; i < count; ++i) values.emplace_back(parts(i, 0), parts(i, 1));
  return values;
}

// sum_j x_j exp(sign 2 pi i j k / n), as it is written.
Complexes transform(const Complexes& x, Fourier direction) {
  const double sign = direction == Fourier::kForward ? -1 : 1;
  const auto n = static_cast<double>(x.size());
  Complexes result(x.size());
  for (size_t k = 0; k < x.size(); ++k)
    for (size_t j = 0; j < x.size(); ++j) {
      const double turn = static_cast<double>(j * k % x.size()) / n;
      result[k] += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * turn);
    }
  return result;
}

double distance(const Complexes& a, const Complexes& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(difference / size);
}

template <typename Real>
class Fft : public ::testing::Test {
 protected:
  static constexpr double kTolerance = sizeof(Real) == 4 ? 2e-6 : 1e-14;
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Fft, Reals);

TYPED_TEST(Fft, OfLanesIsTheSumOfItsDefinitionForAnyLength) {
  using Real = TypeParam;
  // All radices, alone and together, and primes that need a convolution.
  std::vector<Index> lengths = {49, 56, 64, 77, 80, 96, 100, 121, 127, 130, 169, 240, 512};
  for (Index n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const Index n : lengths)
    for (const Fourier direction : {Fourier::kForward, Fourier::kInverse}) {
      const Index from_stride = kBlock<Real> + 8, to_stride = 2 * kBlock<Real>;
      const LaneFft<Real> fft(n, direction, from_stride, to_stride);
      Vector<Real> from = Vector<Real>::Zero(n * from_stride), to(n * to_stride),
                   scratch(fft.scratch_size());
      std::vector<Complexes> lanes;
      for (int lane = 0; lane < kLanes<Real>; ++lane) {
        lanes.push_back(random_complexes(n, static_cast<std::uint64_t>(lane)));
        for (Index j = 0; j < n; ++j)
          set_number<Real>(from.data() + j * from_stride, lane,
                           std::complex<Real>(lanes.back()[static_cast<size_t>(j)]));
      }
      const Vector<Real> before = from;
      fft.run(from.data(), to.data(), scratch.data());
      EXPECT_EQ(from, before) << n;
      for (int lane = 0; lane < kLanes<Real>; ++lane) {
        Complexes found;
        for (Index k = 0; k < n; ++k)
          found.emplace_back(get_number(to.data() + k * to_stride, lane));
        EXPECT_LT(distance(found, transform(lanes[static_cast<size_t>(lane)], direction)),
                  this->kTolerance)
            << n << " lane " << lane;
      }
    }
}

TYPED_TEST(Fft, OfImagesAndBandsIsTheOneOfRowsAndColumns) {
  using Real = TypeParam;
  struct Case {
    Index rows, cols;
    Band band;
  };
  for (const Case& c : {Case{12, 20, {3, 9}}, Case{20, 12, {0, 20}}, Case{17, 5, {16, 17}},
                        Case{1, 1, {0, 1}}, Case{9, 34, {2, 9}}}) {
    const BandFft<Real> fft(c.rows, c.cols, c.band, Fourier::kInverse);
    auto scratch = fft.scratch();
    Vector<Real> image = Vector<Real>::Zero(fft.image_size());
    for (int twice = 0; twice < 2; ++twice) {  // memory of the first one does no harm
      const Complexes values = random_complexes(c.rows * c.cols, static_cast<std::uint64_t>(twice));
      const auto value = [&](Index r, Index col) {
        const bool inside = r >= c.band.first && r < c.band.last;
        return inside ? values[static_cast<size_t>(r * c.cols + col)] : 0.0;
      };
      // Columns, then rows.
      std::vector<Complexes> columns;
      for (Index col = 0; col < c.cols; ++col) {
        Complexes column;
        for (Index r = 0; r < c.rows; ++r) column.push_back(value(r, col));
        columns.push_back(transform(column, Fourier::kInverse));
      }
      Complexes wanted, found;
      for (Index r = 0; r < c.rows; ++r) {
        Complexes row;
        for (const Complexes& column : columns) row.push_back(column[static_cast<size_t>(r)]);
        for (const auto& v : transform(row, Fourier::kInverse)) wanted.push_back(v);
      }
      for (Index col = 0; col < c.cols; ++col)
        for (Index r = c.band.first; r < c.band.last; ++r)
          set_number<Real>(scratch.spectrum.data() + col * fft.spectrum_stride(), r - c.band.first,
                           std::complex<Real>(value(r, col)));
      fft.read_spectrum(scratch);
      for (Index col = 0; col < c.cols; col += kLanes<Real>)
        fft.write_strip(scratch, col, fft.strip(image.data(), col));
      for (Index r = 0; r < c.rows; ++r)
        for (Index col = 0; col < c.cols; ++col)
          found.emplace_back(fft.pixel(image.data(), r, col));
      EXPECT_LT(distance(found, wanted), this->kTolerance) << c.rows << " x " << c.cols;
      // And back to the band, times the number of pixels.
      for (Index col = 0; col < c.cols; col += kLanes<Real>)
        fft.read_strip(fft.strip(image.data(), col), col, scratch);
      fft.write_spectrum(scratch);
      Complexes again, start;
      for (Index col = 0; col < c.cols; ++col)
        for (Index r = c.band.first; r < c.band.last; ++r) {
          again.emplace_back(
              get_number(scratch.back.data() + col * fft.spectrum_stride(), r - c.band.first));
          start.push_back(value(r, col) * static_cast<double>(c.rows * c.cols));
        }
      EXPECT_LT(distance(again, start), this->kTolerance) << c.rows << " x " << c.cols;
    }
  }
}

TYPED_TEST(Fft, TransposesSquaresInRegisters) {
  using Real = TypeParam;
  constexpr int kWidth = kLanes<Real>;
  Square<Real> square;
  for (int r = 0; r < kWidth; ++r)
    for (int c = 0; c < kWidth; ++c)
      square[static_cast<size_t>(r)][c] = static_cast<Real>(100 * r + c);
  transpose<Real>(square);
  for (int r = 0; r < kWidth; ++r)
    for (int c = 0; c < kWidth; ++c)
      EXPECT_EQ(square[static_cast<size_t>(r)][c], static_cast<Real>(100 * c + r));
}

}  // namespace fft_test
}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace udv {
namespace random_test {

constexpr int kDraws = 100'000;

struct Moments {
  double mean = 0, square = 0, cube = 0, fourth = 0;
};

template <typename Draw>
Moments moments(const Draw& draw) {
  Moments m;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    m.mean += x / kDraws;
    m.square += x * x / kDraws;
    m.cube += x * x * x / kDraws;
    m.fourth += x * x * x * x / kDraws;
  }
  return m;
}

// Four standard deviations of a mean of kDraws values whose standard deviation is given.
double spread(double deviation) {
  return 4 * deviation / std::sqrt(kDraws);
}

TEST(Random, GivesTheSameBitsForEver) {
  Random random(0);
  EXPECT_EQ(random.bits(), 9826868804458059804u);
  EXPECT_EQ(random.bits(), 10035197629148757060u);
  EXPECT_EQ(Random(1, 2).bits(), 960524919686204622u);
}

TEST(Random, GivesTheSameUniformNumbersForEver) {
  Random random(42);
  EXPECT_EQ(random.uniform(), 0.48972255042353174);
  EXPECT_EQ(random.uniform(), 0.42321393806600394);
  EXPECT_EQ(random.uniform(), 0.89839264813897624);
}

TEST(Random, GivesTheSameNormalNumbersForEver) {
  Random random(42);
  EXPECT_DOUBLE_EQ(random.normal(), -0.36231189422929028);
  EXPECT_DOUBLE_EQ(random.normal(), -2.7069462460232239);
  EXPECT_DOUBLE_EQ(random.normal(), 0.51192825734115077);
}

TEST(Random, GivesTheSameIndicesForEver) {
  Random random(42);
  std::vector<Index> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(random.below(100));
  EXPECT_EQ(drawn, (std::vector<Index>{62, 88, 40, 1, 8, 23, 45, 29}));
}

TEST(Random, StreamsOfOneSeedDiffer) {
  std::vector<std::uint64_t> first;
  for (std::uint64_t stream = 0; stream < 100; ++stream) first.push_back(Random(7, stream).bits());
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
}

TEST(Random, UsesAllBitsOfTheSeedAndOfTheStream) {
  const std::uint64_t high = std::uint64_t{1} << 40;
  EXPECT_NE(Random(1).bits(), Random(1 + high).bits());
  EXPECT_NE(Random(1, 1).bits(), Random(1, 1 + high).bits());
}

TEST(Random, StreamsAreUncorrelated) {
  Random one(3, 1), other(3, 2);
  const Moments product = moments([&] { return one.normal() * other.normal(); });
  EXPECT_NEAR(product.mean, 0, spread(1));
}

TEST(Random, UniformLiesInTheHalfOpenUnitInterval) {
  Random random(5);
  double smallest = 1, largest = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  EXPECT_GE(smallest, 0);
  EXPECT_LT(largest, 1);
  EXPECT_LT(smallest, 1e-3);
  EXPECT_GT(largest, 1 - 1e-3);
}

TEST(Random, UniformHasTheMomentsOfTheUniformDistribution) {
  Random random(6);
  const Moments m = moments([&] { return random.uniform(); });
  EXPECT_NEAR(m.mean, 1.0 / 2, spread(std::sqrt(1.0 / 12)));
  EXPECT_NEAR(m.square, 1.0 / 3, spread(std::sqrt(4.0 / 45)));
}

TEST(Random, NormalHasTheMomentsOfTheNormalDistribution) {
  Random random(7);
  const Moments m = moments([&] { return random.normal(); });
  EXPECT_NEAR(m.mean, 0, spread(1));
  EXPECT_NEAR(m.square, 1, spread(std::sqrt(2)));
  EXPECT_NEAR(m.cube, 0, spread(std::sqrt(15)));
  EXPECT_NEAR(m.fourth, 3, spread(std::sqrt(96)));
}

TEST(Random, BelowGivesEveryIndexEquallyOften) {
  Random random(8);
  std::vector<int> counts(7);
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(random.below(7))];
  for (const int count : counts) EXPECT_NEAR(count / double{kDraws}, 1.0 / 7, spread(0.35));
}

TEST(Random, BelowOneIsZero) {
  Random random(9);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0);
}

TEST(Random, BelowIsUnbiasedForLimitsNearTheRangeOfTheEngine) {
  // Of 3/4 of the range of an Index, 2/3 lies below its half; taking bits modulo the limit would
  // give more.
  const Index limit = std::numeric_limits<Index>::max() / 4 * 3;
  Random random(10);
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.below(limit) < limit / 3 * 2;
  EXPECT_NEAR(low / double{kDraws}, 2.0 / 3, spread(0.48));
}

TEST(Random, FillsComplexArraysWithIndependentPartsOfVarianceOneInAll) {
  Vector<std::complex<double>> z(kDraws);
  Random random(12);
  random.fill_normal(z);
  Index i = 0, j = 0, k = 0;
  const Moments re = moments([&] { return z(i++).real(); });
  const Moments im = moments([&] { return z(j++).imag(); });
  const Moments product = moments([&] {
    const std::complex<double> value = z(k++);
    return value.real() * value.imag();
  });
  for (const Moments& m : {re, im}) {
    EXPECT_NEAR(m.mean, 0, spread(std::sqrt(0.5)));
    EXPECT_NEAR(m.square, 0.5, spread(std::sqrt(0.5)));
    EXPECT_NEAR(m.fourth, 0.75, spread(std::sqrt(6)));
  }
  EXPECT_NEAR(re.square + im.square, 1, spread(1));
  EXPECT_NEAR(product.mean, 0, spread(0.5));
}

TEST(Random, DrawsTheSameNumbersInSinglePrecision) {
  Vector<double> wide(100);
  Vector<float> narrow(100);
  Vector<std::complex<double>> complex_wide(100);
  Vector<std::complex<float>> complex_narrow(100);
  Random(13).fill_normal(wide);
  Random(13).fill_normal(narrow);
  Random(13).fill_normal(complex_wide);
  Random(13).fill_normal(complex_narrow);
  EXPECT_EQ(narrow, wide.cast<float>());
  EXPECT_EQ(complex_narrow, complex_wide.cast<std::complex<float>>());
}

TEST(Random, FillsMatricesRowByRowWhateverTheirStorage) {
  Matrix<double> by_column(3, 4);
  RowMatrix<double> by_row(3, 4);
  Random one(11), other(11);
  one.fill_normal(by_column);
  other.fill_normal(by_row);
  EXPECT_EQ(by_column, by_row);
}

}  // namespace random_test
}  // namespace udv

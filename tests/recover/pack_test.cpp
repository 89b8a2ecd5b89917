// SPDX-License-Identifier: MIT
#include "recover/kernels/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random_data.hpp"

namespace udv {
namespace pack_test {

using testing::kEps;
using testing::random_vector;

template <typename Constant>
class PackedRowOfWidth : public ::testing::Test {
 protected:
  static constexpr int K = Constant::value;
  using Row = PackedRow<double, K>;

  // One entry more than K, so that a store beyond the row is seen; misaligned by one.
  Vector<double> stored(const Row& row) const {
    Vector<double> memory = Vector<double>::Constant(K + 2, kUntouched);
    row.store(memory.data() + 1);
    EXPECT_EQ(memory(0), kUntouched);
    EXPECT_EQ(memory(K + 1), kUntouched);
    return memory.segment(1, K);
  }

  // A product and a sum round once each, or once together where they are fused.
  void expect_close(const Vector<double>& found, const Vector<double>& expected) const {
    const Vector<double> size = expected.cwiseAbs() + a.cwiseProduct(b).cwiseAbs() + a.cwiseAbs();
    for (Index c = 0; c < K; ++c) EXPECT_NEAR(found(c), expected(c), 4 * kEps * size(c));
  }

  static constexpr double kUntouched = -12345;
  const Vector<double> a = random_vector(K, 1), b = random_vector(K, 2);
};

template <int... K>
::testing::Types<std::integral_constant<int, K + 1>...> widths(std::integer_sequence<int, K...>);
using Widths = decltype(widths(std::make_integer_sequence<int, kMaxFixedWidth>()));
TYPED_TEST_SUITE(PackedRowOfWidth, Widths);

TYPED_TEST(PackedRowOfWidth, StoresWhatItLoads) {
  typename TestFixture::Row row;
  row.load(this->a.data());
  EXPECT_EQ(this->stored(row), this->a);
}

TYPED_TEST(PackedRowOfWidth, ClearsToZero) {
  typename TestFixture::Row row;
  row.clear();
  EXPECT_TRUE(this->stored(row).isZero(0));
}

TYPED_TEST(PackedRowOfWidth, AddsAScaledRowFromMemory) {
  typename TestFixture::Row row;
  row.load(this->a.data());
  row.add(0.3, this->b.data());
  this->expect_close(this->stored(row), this->a + 0.3 * this->b);
}

TYPED_TEST(PackedRowOfWidth, AddsAnotherRow) {
  typename TestFixture::Row row, other;
  row.load(this->a.data());
  other.load(this->b.data());
  row.add(other);
  EXPECT_EQ(this->stored(row), this->a + this->b);
}

TYPED_TEST(PackedRowOfWidth, AddsAScaledOtherRow) {
  typename TestFixture::Row row, other;
  row.load(this->a.data());
  other.load(this->b.data());
  row.add(-1.7, other);
  this->expect_close(this->stored(row), this->a - 1.7 * this->b);
}

TYPED_TEST(PackedRowOfWidth, AddsAProductEntryByEntry) {
  typename TestFixture::Row row;
  row.load(this->a.data());
  row.add_product(this->a.data(), this->b.data());
  this->expect_close(this->stored(row), this->a + this->a.cwiseProduct(this->b));
}

TYPED_TEST(PackedRowOfWidth, ScalesARowEntryByEntry) {
  typename TestFixture::Row row;
  row.load(this->a.data());
  Vector<double> scaled = this->b;
  row.scale(scaled.data());
  EXPECT_EQ(scaled, this->a.cwiseProduct(this->b));
}

TYPED_TEST(PackedRowOfWidth, MultipliesWithARow) {
  typename TestFixture::Row row;
  row.load(this->a.data());
  double plain = 0;
  for (Index c = 0; c < TestFixture::K; ++c) plain += this->a(c) * this->b(c);
  // K additions of partial sums of at most |a| |b|.
  EXPECT_NEAR(row.dot(this->b.data()), plain,
              TestFixture::K * kEps * this->a.norm() * this->b.norm());
}

TEST(WithWidth, KnowsWidthsUpToTheLargestFixedOne) {
  for (Index width = 1; width <= kMaxFixedWidth; ++width)
    with_width<double>(width, [&](auto fixed) { EXPECT_EQ(decltype(fixed)::value, width); });
}

TEST(WithWidth, KnowsNoWidthOfComplexRows) {
  for (Index width = 0; width <= kMaxFixedWidth; ++width)
    with_width<std::complex<double>>(width,
                                     [&](auto fixed) { EXPECT_EQ(decltype(fixed)::value, 0); });
}

TEST(WithWidth, CallsOnceWithZeroForAllOtherWidths) {
  for (const Index width : {Index{0}, Index{kMaxFixedWidth + 1}, Index{100}}) {
    std::vector<int> calls;
    with_width<double>(width, [&](auto fixed) { calls.push_back(decltype(fixed)::value); });
    EXPECT_EQ(calls, std::vector<int>{0}) << width;
  }
}

}  // namespace pack_test
}  // namespace udv

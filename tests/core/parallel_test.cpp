// SPDX-License-Identifier: MIT
#include "udv/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/sums.hpp"
#include "support/every_scalar.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace parallel_test {

using testing::random_rows;
using testing::random_vector;
using testing::ThreadCount;

constexpr int kThreadCounts[] = {1, 2, 5};

// Half of the smallest normal number, computed at run time: a denormal, or 0 where flushed.
double half_of_smallest() {
  volatile double smallest = std::numeric_limits<double>::min();
  return smallest / 2;
}

TEST(NumThreads, IsWhatWasSetAndAtLeastOne) {
  const ThreadCount three(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(0);
  EXPECT_GE(num_threads(), 1);
}

TEST(ParallelBlocks, VisitEveryIndexOnce) {
  for (const int threads : kThreadCounts) {
    const ThreadCount guard(threads);
    std::vector<std::atomic<int>> visits(1003);
    parallel_blocks(1003, 10, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
    });
    for (const auto& count : visits) ASSERT_EQ(count, 1);
  }
}

TEST(ParallelBlocks, CutTheSameBlocksForAnyNumberOfThreads) {
  for (const int threads : kThreadCounts) {
    const ThreadCount guard(threads);
    std::vector<Index> ends(4, -1);
    parallel_blocks(31, 8,
                    [&](Index begin, Index end) { ends[static_cast<size_t>(begin / 8)] = end; });
    EXPECT_EQ(ends, (std::vector<Index>{8, 16, 24, 31})) << threads << " threads";
  }
}

TEST(ParallelBlocks, DoNothingForSizeZero) {
  for (const int threads : kThreadCounts) {
    const ThreadCount guard(threads);
    bool called = false;
    parallel_blocks(0, 8, [&](Index, Index) { called = true; });
    EXPECT_FALSE(called);
  }
}

TEST(ParallelBlocks, PassOnAnExceptionAndWorkAfterwards) {
  for (const int threads : kThreadCounts) {
    const ThreadCount guard(threads);
    const auto fail_in_the_middle = [](Index begin, Index) {
      if (begin == 50) throw std::runtime_error("block 50");
    };
    EXPECT_THROW(parallel_blocks(100, 10, fail_in_the_middle), std::runtime_error);
    std::atomic<Index> total = 0;
    parallel_blocks(100, 10, [&](Index begin, Index end) { total += end - begin; });
    EXPECT_EQ(total, 100);
  }
}

TEST(ParallelBlocks, MayBeNested) {
  const ThreadCount guard(3);
  std::atomic<Index> total = 0;
  parallel_blocks(6, 1, [&](Index, Index) {
    parallel_blocks(10, 2, [&](Index begin, Index end) { total += end - begin; });
  });
  EXPECT_EQ(total, 60);
}

TEST(ParallelBlocks, HandTheFloatingPointModeToEveryThread) {
  const ThreadCount guard(5);
  const FlushToZero flush;
  std::atomic<int> denormals = 0;
  parallel_blocks(500, 1, [&](Index, Index) { denormals += half_of_smallest() != 0; });
  EXPECT_EQ(denormals, 0);
}

template <typename Scalar>
class Dot : public ::testing::Test {};
TYPED_TEST_SUITE(Dot, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(Dot, EqualsThePlainSum) {
  for (const Index size : {0, 1, 7, 4096, 4097, 100'000}) {
    const auto a = random_vector<TypeParam>(size, 1), b = random_vector<TypeParam>(size, 2);
    std::complex<double> plain = 0;
    for (Index i = 0; i < size; ++i)
      plain += std::conj(std::complex<double>(a(i))) * std::complex<double>(b(i));
    // Each of the `size` additions rounds a partial sum of at most |a| |b|.
    EXPECT_NEAR(dot(a, b), plain.real(),
                kEpsilon<TypeParam> * static_cast<double>(size) * a.norm() * b.norm());
  }
}

TYPED_TEST(Dot, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto a = random_vector<TypeParam>(1'000'003, 3), b = random_vector<TypeParam>(1'000'003, 4);
  std::vector<double> results;
  for (const int threads : kThreadCounts) {
    const ThreadCount guard(threads);
    results.push_back(dot(a, b));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TYPED_TEST(Dot, AddsBlocksOf4096InOrder) {
  // 4096 real numbers: a complex number is two of them.
  using Real = RealOf<TypeParam>;
  const auto a = random_vector<TypeParam>(3 * 4096 + 5, 5);
  const auto b = random_vector<TypeParam>(3 * 4096 + 5, 6);
  const auto* left = reinterpret_cast<const Real*>(a.data());
  const auto* right = reinterpret_cast<const Real*>(b.data());
  const Index size = a.size() * static_cast<Index>(sizeof(TypeParam) / sizeof(Real));
  double in_order = 0;
  for (Index begin = 0; begin < size; begin += 4096)
    in_order += dot(left + begin, right + begin, std::min<Index>(4096, size - begin));
  EXPECT_EQ(dot(a, b), in_order);
}

TYPED_TEST(Dot, WithItselfIsTheSquaredNorm) {
  const auto a = random_rows<TypeParam>(30, 7, 7);
  // 210 squares (420 where complex), all of one sign.
  EXPECT_NEAR(squared_norm(a), a.squaredNorm(), 420 * kEpsilon<TypeParam> * a.squaredNorm());
}

TEST(FlushToZero, TurnsDenormalsIntoZerosAndBackAgain) {
  EXPECT_GT(half_of_smallest(), 0);
  {
    const FlushToZero flush;
    EXPECT_EQ(half_of_smallest(), 0);
  }
  EXPECT_GT(half_of_smallest(), 0);
}

TEST(FlushToZero, NestedGuardsRestoreTheOuterMode) {
  const FlushToZero outer;
  { const FlushToZero inner; }
  EXPECT_EQ(half_of_smallest(), 0);
}

}  // namespace parallel_test
}  // namespace udv

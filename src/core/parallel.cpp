// SPDX-License-Identifier: MIT
#include "udv/core/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "core/sums.hpp"
#include "thread_pool.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace udv {
namespace {

constexpr Index kReductionBlock = 4096;
constexpr unsigned kFlushBits = 0x8040;  // flush-to-zero and denormals-are-zero

int requested_threads = 0;
thread_local bool inside_block = false;  // blocks within blocks run one after the other

#if defined(__SSE2__)
unsigned float_mode() {
  return _mm_getcsr();
}
void set_float_mode(unsigned mode) {
  _mm_setcsr(mode);
}
#else
unsigned float_mode() {
  return 0;
}
void set_float_mode(unsigned) {}
#endif

struct InsideBlock {
  InsideBlock() { inside_block = true; }
  ~InsideBlock() { inside_block = false; }
};

}  // namespace

void set_num_threads(int count) {
  requested_threads = count;
}

int num_threads() {
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Results are the same for any number; many more threads than cores only wait for each other.
  return requested_threads > 0 ? std::min(requested_threads, 4 * cores) : cores;
}

void parallel_blocks(Index size, Index block, const std::function<void(Index, Index)>& body) {
  const Index blocks = (size + block - 1) / block;
  const int threads = static_cast<int>(std::min<Index>(num_threads(), blocks));
  if (threads <= 1 || inside_block) {
    for (Index begin = 0; begin < size; begin += block) body(begin, std::min(size, begin + block));
  } else {
    static ThreadPool pool;
    const unsigned mode = float_mode();
    pool.run(blocks, threads, [&](Index b) {
      const unsigned own_mode = float_mode();
      set_float_mode(mode);
      const InsideBlock inside;
      body(b * block, std::min(size, (b + 1) * block));
      set_float_mode(own_mode);
    });
  }
}

namespace {

template <typename Real>
double blocked_dot(const Real* a, const Real* b, Index size) {
  using Segment = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;
  if (size <= kReductionBlock) return (Segment(a, size) * Segment(b, size)).sum();
  const Index blocks = (size + kReductionBlock - 1) / kReductionBlock;
  std::vector<double> partial(static_cast<size_t>(blocks));
  const auto sum_blocks = [&](Index first, Index last) {
    for (Index k = first; k < last; ++k) {
      const Index begin = k * kReductionBlock;
      const Index length = std::min(size - begin, kReductionBlock);
      partial[static_cast<size_t>(k)] =
          (Segment(a + begin, length) * Segment(b + begin, length)).sum();
    }
  };
  parallel_blocks(blocks, std::max<Index>(8, (blocks + 15) / 16), sum_blocks);
  double total = 0;
  for (const double value : partial) total += value;
  return total;
}

}  // namespace

double dot(const double* a, const double* b, Index size) {
  return blocked_dot(a, b, size);
}

double dot(const float* a, const float* b, Index size) {
  return blocked_dot(a, b, size);
}

namespace {

constexpr Index kEntryBlock = 1 << 15;

template <typename Real>
using Segment = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;
template <typename Real>
using ConstSegment = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;

template <typename Real>
void blocked_add(Real factor, const Real* x, Real* y, Index size) {
  parallel_blocks(size, kEntryBlock, [&](Index begin, Index end) {
    Segment<Real>(y + begin, end - begin) += factor * ConstSegment<Real>(x + begin, end - begin);
  });
}

template <typename Real>
void blocked_scale(Real factor, Real* x, Index size) {
  parallel_blocks(size, kEntryBlock,
                  [&](Index begin, Index end) { Segment<Real>(x + begin, end - begin) *= factor; });
}

}  // namespace

void add_scaled(double factor, const double* x, double* y, Index size) {
  blocked_add(factor, x, y, size);
}

void add_scaled(float factor, const float* x, float* y, Index size) {
  blocked_add(factor, x, y, size);
}

void scale(double factor, double* x, Index size) {
  blocked_scale(factor, x, size);
}

void scale(float factor, float* x, Index size) {
  blocked_scale(factor, x, size);
}

FlushToZero::FlushToZero() : saved_(float_mode()) {
  set_float_mode(saved_ | kFlushBits);
}

FlushToZero::~FlushToZero() {
  set_float_mode(saved_);
}

}  // namespace udv

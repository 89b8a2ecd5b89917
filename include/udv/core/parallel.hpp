// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Threads that kernels may use; 0 or less means all cores. Results do not depend on it.
UDV_EXPORT void set_num_threads(int count);
UDV_EXPORT int num_threads();

/// Runs body(begin, end) over 0 .. size - 1 cut into blocks of `block` indices, on all threads.
/// The cut depends on the sizes alone, never on the number of threads, so partial sums per block
/// that are added in order give the same bits everywhere. Threads inherit the caller's
/// floating-point mode. One block, one thread or a call from within a block: a plain loop.
UDV_EXPORT void parallel_blocks(Index size, Index block,
                                const std::function<void(Index, Index)>& body);

/// <a, b> for equally shaped dense arrays, block by block in a fixed order.
UDV_EXPORT double dot(const double* a, const double* b, Index size);
UDV_EXPORT double dot(const float* a, const float* b, Index size);

/// Re <a, b>: a complex array counts as a real one of twice the length.
template <typename Left, typename Right>
double dot(const Eigen::PlainObjectBase<Left>& a, const Eigen::PlainObjectBase<Right>& b) {
  return dot(reals_of(a.data()), reals_of(b.data()), kParts<typename Left::Scalar> * a.size());
}

template <typename Dense>
double squared_norm(const Eigen::PlainObjectBase<Dense>& a) {
  return dot(a, a);
}

/// y += factor x and x *= factor, entry by entry, on all threads where that is worth it.
UDV_EXPORT void add_scaled(double factor, const double* x, double* y, Index size);
UDV_EXPORT void add_scaled(float factor, const float* x, float* y, Index size);
UDV_EXPORT void scale(double factor, double* x, Index size);
UDV_EXPORT void scale(float factor, float* x, Index size);

/// Sets flush-to-zero while alive: columns on their way to zero would otherwise pass through
/// denormal numbers, which are a hundred times slower.
class UDV_EXPORT FlushToZero {
 public:
  FlushToZero();
  ~FlushToZero();
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  unsigned saved_;
};

}  // namespace udv

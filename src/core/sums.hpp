// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/types.hpp"

namespace udv {

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

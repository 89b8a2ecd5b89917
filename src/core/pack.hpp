// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "udv/core/types.hpp"

/// Short rows in registers. A compiler that sees a loop over 10 doubles leaves them on the stack;
/// one that sees a pack of 8 and one of 2 does not. Packs are the compiler's own vector types and
/// fall into smaller ones where the processor has none so wide.
namespace udv {

#define UDV_INLINE [[gnu::always_inline]] inline

template <typename Scalar, int N>
struct PackType {
  typedef Scalar type __attribute__((vector_size(N * sizeof(Scalar))));
};
template <typename Scalar>
struct PackType<Scalar, 1> {
  using type = Scalar;
};
template <typename Scalar, int N>
using Pack = typename PackType<Scalar, N>::type;

/// Sum of the lanes: halves are added until one is left.
template <typename Scalar, int N>
UDV_INLINE Scalar lane_sum(const Pack<Scalar, N>& v) {
  if constexpr (N == 8) {
    return lane_sum<Scalar, 4>(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                               __builtin_shufflevector(v, v, 4, 5, 6, 7));
  } else if constexpr (N == 4) {
    return lane_sum<Scalar, 2>(__builtin_shufflevector(v, v, 0, 1) +
                               __builtin_shufflevector(v, v, 2, 3));
  } else if constexpr (N == 2) {
    return v[0] + v[1];
  } else {
    return v;
  }
}

/// K numbers as packs of 8, 4, 2 and 1.
template <typename Scalar, int K>
struct PackedRow {
  static constexpr int kHead = K >= 8 ? 8 : K >= 4 ? 4 : K >= 2 ? 2 : 1;
  Pack<Scalar, kHead> head;
  PackedRow<Scalar, K - kHead> tail;

  UDV_INLINE void load(const Scalar* from) {
    std::memcpy(&head, from, sizeof(head));
    tail.load(from + kHead);
  }
  UDV_INLINE void store(Scalar* to) const {
    std::memcpy(to, &head, sizeof(head));
    tail.store(to + kHead);
  }
  UDV_INLINE void clear() {
    head = Pack<Scalar, kHead>{};
    tail.clear();
  }
  /// *this += s * row
  UDV_INLINE void add(Scalar s, const Scalar* row) {
    Pack<Scalar, kHead> values;
    std::memcpy(&values, row, sizeof(values));
    head += s * values;
    tail.add(s, row + kHead);
  }
  /// <*this, row>
  UDV_INLINE Scalar dot(const Scalar* row) const {
    Pack<Scalar, kHead> values;
    std::memcpy(&values, row, sizeof(values));
    const Pack<Scalar, kHead> products = head * values;
    if constexpr (K == kHead)
      return lane_sum<Scalar, kHead>(products);
    else
      return lane_sum<Scalar, kHead>(products) + tail.dot(row + kHead);
  }
};

template <typename Scalar>
struct PackedRow<Scalar, 0> {
  UDV_INLINE void load(const Scalar*) {}
  UDV_INLINE void store(Scalar*) const {}
  UDV_INLINE void clear() {}
  UDV_INLINE void add(Scalar, const Scalar*) {}
  UDV_INLINE Scalar dot(const Scalar*) const { return 0; }
};

}  // namespace udv

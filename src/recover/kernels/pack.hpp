// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "core/sums.hpp"
#include "udv/core/types.hpp"

/// Short rows in registers. A compiler that sees a loop over 10 doubles leaves them on the stack;
/// one that sees a pack of 8 and one of 2 does not. Packs are the compiler's own vector types and
/// fall into smaller ones where the processor has none so wide.
namespace udv {

#define UDV_INLINE [[gnu::always_inline]] inline
#define UDV_INLINE_BODY __attribute__((always_inline))  // of a lambda

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

/// N numbers from memory of any alignment, by value: a pack whose address is taken is spilled.
template <typename Scalar, int N>
UDV_INLINE Pack<Scalar, N> load_pack(const Scalar* from) {
  if constexpr (N == 1) {
    return *from;
  } else {
    Pack<Scalar, N> values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
}

template <typename Scalar, int N>
UDV_INLINE void store_pack(Pack<Scalar, N> values, Scalar* to) {
  if constexpr (N == 1)
    *to = values;
  else
    std::memcpy(to, &values, sizeof(values));
}

/// K numbers as packs of 8, 4, 2 and 1.
template <typename Scalar, int K>
struct PackedRow {
  static constexpr int kHead = K >= 8 ? 8 : K >= 4 ? 4 : K >= 2 ? 2 : 1;
  Pack<Scalar, kHead> head;
  PackedRow<Scalar, K - kHead> tail;

  UDV_INLINE void load(const Scalar* from) {
    head = load_pack<Scalar, kHead>(from);
    tail.load(from + kHead);
  }
  UDV_INLINE void store(Scalar* to) const {
    store_pack<Scalar, kHead>(head, to);
    tail.store(to + kHead);
  }
  UDV_INLINE void clear() {
    head = Pack<Scalar, kHead>{};
    tail.clear();
  }
  /// *this += s * row
  UDV_INLINE void add(Scalar s, const Scalar* row) {
    head += s * load_pack<Scalar, kHead>(row);
    tail.add(s, row + kHead);
  }
  UDV_INLINE void add(const PackedRow& other) {
    head += other.head;
    tail.add(other.tail);
  }
  /// *this += s * other
  UDV_INLINE void add(Scalar s, const PackedRow& other) {
    head += s * other.head;
    tail.add(s, other.tail);
  }
  /// *this += a o b, entry by entry
  UDV_INLINE void add_product(const Scalar* a, const Scalar* b) {
    head += load_pack<Scalar, kHead>(a) * load_pack<Scalar, kHead>(b);
    tail.add_product(a + kHead, b + kHead);
  }
  /// row = row o *this
  UDV_INLINE void scale(Scalar* row) const {
    store_pack<Scalar, kHead>(head * load_pack<Scalar, kHead>(row), row);
    tail.scale(row + kHead);
  }
  /// Sum over the packs of 8 of their products with the row, lane by lane.
  UDV_INLINE Pack<Scalar, 8> products_of_8(const Scalar* row) const {
    static_assert(K >= 8);
    if constexpr (K >= 16)
      return head * load_pack<Scalar, 8>(row) + tail.products_of_8(row + 8);
    else
      return head * load_pack<Scalar, 8>(row);
  }
  /// What is left after the packs of 8.
  UDV_INLINE Scalar dot_of_rest(const Scalar* row) const {
    if constexpr (K >= 8)
      return tail.dot_of_rest(row + 8);
    else
      return dot(row);
  }
  /// <*this, row>
  UDV_INLINE Scalar dot(const Scalar* row) const {
    if constexpr (K >= 8) {
      const Scalar sum = lane_sum<Scalar, 8>(products_of_8(row));
      if constexpr (K % 8 == 0)
        return sum;
      else
        return sum + dot_of_rest(row);
    } else {
      const Pack<Scalar, kHead> products = head * load_pack<Scalar, kHead>(row);
      if constexpr (K == kHead)
        return lane_sum<Scalar, kHead>(products);
      else
        return lane_sum<Scalar, kHead>(products) + tail.dot(row + kHead);
    }
  }
};

template <typename Scalar>
struct PackedRow<Scalar, 0> {
  UDV_INLINE void load(const Scalar*) {}
  UDV_INLINE void store(Scalar*) const {}
  UDV_INLINE void clear() {}
  UDV_INLINE void add(Scalar, const Scalar*) {}
  UDV_INLINE void add(const PackedRow&) {}
  UDV_INLINE void add(Scalar, const PackedRow&) {}
  UDV_INLINE void add_product(const Scalar*, const Scalar*) {}
  UDV_INLINE void scale(Scalar*) const {}
  UDV_INLINE Scalar dot(const Scalar*) const { return 0; }
};

inline constexpr int kMaxFixedWidth = 16;

/// Calls body(std::integral_constant<int, K>) with K = width where it is small, else K = 0. Rows of
/// complex numbers are never held in packs: K = 0 for all of them.
template <typename Scalar, typename Body>
void with_width(Index width, const Body& body) {
  const auto dispatch = [&]<int... K>(std::integer_sequence<int, K...>) {
    const bool fixed =
        ((width == K + 1 ? (body(std::integral_constant<int, K + 1>()), true) : false) || ...);
    if (!fixed) body(std::integral_constant<int, 0>());
  };
  dispatch(std::make_integer_sequence < int, kIsComplex<Scalar> ? 0 : kMaxFixedWidth > ());
}

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "core/pack.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/types.hpp"
#include "udv/recover/operators/entries.hpp"

/// Inner loops over the rows of thin factors. Width K is the number of columns where it is known
/// at compile time (up to kMaxFixedWidth), else 0 and `width` counts. All rows are contiguous.
namespace udv::kernels {

inline constexpr int kMaxFixedWidth = 16;
inline constexpr int kWideChunk = 32;  // columns of a wide row that are held in registers at once

/// sum_c a_c b_c for rows that are not known to be short: four chains of 8 lanes.
template <typename Scalar>
UDV_INLINE Scalar wide_dot(const Scalar* a, const Scalar* b, Index width) {
  Pack<Scalar, 8> sums[4] = {};
  Index c = 0;
  for (; c + kWideChunk <= width; c += kWideChunk) {
    for (int chain = 0; chain < 4; ++chain) {
      Pack<Scalar, 8> left, right;
      std::memcpy(&left, a + c + 8 * chain, sizeof(left));
      std::memcpy(&right, b + c + 8 * chain, sizeof(right));
      sums[chain] += left * right;
    }
  }
  for (; c + 8 <= width; c += 8) {
    Pack<Scalar, 8> left, right;
    std::memcpy(&left, a + c, sizeof(left));
    std::memcpy(&right, b + c, sizeof(right));
    sums[0] += left * right;
  }
  Scalar rest = 0;
  for (; c < width; ++c) rest += a[c] * b[c];
  return lane_sum<Scalar, 8>((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

/// sum_c a_c b_c
template <int K, typename Scalar>
UDV_INLINE Scalar dot(const Scalar* a, const Scalar* b, Index width) {
  if constexpr (K > 0) {
    PackedRow<Scalar, K> left;
    left.load(a);
    return left.dot(b);
  } else {
    return wide_dot(a, b, width);
  }
}

/// Columns c to c + C of: target (+)= sum of weighted rows.
template <int C, typename Scalar, typename Term>
UDV_INLINE void sum_chunk(Index first, Index last, Index c, bool add, Scalar* target,
                          const Term& term) {
  PackedRow<Scalar, C> sum;
  if (add)
    sum.load(target + c);
  else
    sum.clear();
  for (Index s = first; s < last; ++s) {
    const auto [weight, row] = term(s);
    sum.add(weight, row + c);
  }
  sum.store(target + c);
}

/// target (+)= sum_s weight_s row_s over a line's entries s = first .. last - 1, where term(s)
/// gives {weight, row}. Sums stay in registers.
template <int K, typename Scalar, typename Term>
UDV_INLINE void sum_rows(Index first, Index last, Index width, bool add, Scalar* target,
                         const Term& term) {
  if constexpr (K > 0) {
    sum_chunk<K>(first, last, 0, add, target, term);
  } else {
    Index c = 0;
    for (; c + kWideChunk <= width; c += kWideChunk)
      sum_chunk<kWideChunk>(first, last, c, add, target, term);
    for (; c + 8 <= width; c += 8) sum_chunk<8>(first, last, c, add, target, term);
    for (; c + 4 <= width; c += 4) sum_chunk<4>(first, last, c, add, target, term);
    for (; c < width; ++c) sum_chunk<1>(first, last, c, add, target, term);
  }
}

/// Calls body(std::integral_constant<int, K>) with K = width where it is small, else K = 0.
template <typename Body>
void with_width(Index width, const Body& body) {
  const auto dispatch = [&]<int... K>(std::integer_sequence<int, K...>) {
    const bool fixed = ((width == K + 1 ? (body(std::integral_constant<int, K + 1>()), true)
                                        : false) ||
                        ...);
    if (!fixed) body(std::integral_constant<int, 0>());
  };
  dispatch(std::make_integer_sequence<int, kMaxFixedWidth>());
}

/// Runs body(begin, end) over lines, on several threads where the work is worth it.
template <typename Body>
void over_lines(const SparseLines& lines, Index width, const Body& body) {
  constexpr Index kWorkPerBlock = 1 << 15;  // multiply-adds: some 10 microseconds
  const Index work = static_cast<Index>(lines.other.size() + 1) * std::max<Index>(width, 1);
  const Index blocks = std::clamp<Index>(work / kWorkPerBlock, 1, 64);
  parallel_blocks(lines.lines(), (lines.lines() + blocks - 1) / blocks, body);
}

}  // namespace udv::kernels

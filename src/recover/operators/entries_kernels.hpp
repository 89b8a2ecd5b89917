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

inline constexpr int kWideChunk = 32;  // columns of a wide row that are held in registers at once

/// sum_c a_c b_c for rows that are not known to be short: four chains of 8 lanes.
template <typename Scalar>
UDV_INLINE Scalar wide_dot(const Scalar* a, const Scalar* b, Index width) {
  Pack<Scalar, 8> first{}, second{}, third{}, fourth{};
  Index c = 0;
  for (; c + kWideChunk <= width; c += kWideChunk) {
    first += load_pack<Scalar, 8>(a + c) * load_pack<Scalar, 8>(b + c);
    second += load_pack<Scalar, 8>(a + c + 8) * load_pack<Scalar, 8>(b + c + 8);
    third += load_pack<Scalar, 8>(a + c + 16) * load_pack<Scalar, 8>(b + c + 16);
    fourth += load_pack<Scalar, 8>(a + c + 24) * load_pack<Scalar, 8>(b + c + 24);
  }
  if (c + 16 <= width) {
    second += load_pack<Scalar, 8>(a + c) * load_pack<Scalar, 8>(b + c);
    third += load_pack<Scalar, 8>(a + c + 8) * load_pack<Scalar, 8>(b + c + 8);
    c += 16;
  }
  for (; c + 8 <= width; c += 8) first += load_pack<Scalar, 8>(a + c) * load_pack<Scalar, 8>(b + c);
  Scalar rest = 0;
  if (c + 4 <= width) {
    rest = lane_sum<Scalar, 4>(load_pack<Scalar, 4>(a + c) * load_pack<Scalar, 4>(b + c));
    c += 4;
  }
  for (; c < width; ++c) rest += a[c] * b[c];
  return lane_sum<Scalar, 8>((first + second) + (third + fourth)) + rest;
}

/// One row, to be multiplied with many: in registers where K is fixed.
template <int K, typename Scalar>
class LeftRow {
 public:
  LeftRow(const Scalar* row, Index width) : row_(row), width_(width) {
    if constexpr (K > 0) packed_.load(row);
  }
  UDV_INLINE Scalar dot(const Scalar* other) const {
    if constexpr (K > 0)
      return packed_.dot(other);
    else
      return wide_dot(row_, other, width_);
  }

 private:
  const Scalar* row_;
  Index width_;
  PackedRow<Scalar, K> packed_;
};

/// Columns c to c + C of: target (+)= sum of weighted rows.
template <int C, typename Scalar, typename Term>
UDV_INLINE void sum_chunk(Index first, Index last, Index c, bool add, Scalar* target,
                          const Term& term) {
  PackedRow<Scalar, C> even, odd;
  if (add)
    even.load(target + c);
  else
    even.clear();
  Index s = first;
  // Two chains for short rows: each addition would otherwise wait for the one before.
  if constexpr (C <= kMaxFixedWidth) {
    odd.clear();
    for (; s + 1 < last; s += 2) {
      const auto [even_weight, even_row] = term(s);
      even.add(even_weight, even_row + c);
      const auto [odd_weight, odd_row] = term(s + 1);
      odd.add(odd_weight, odd_row + c);
    }
    even.add(odd);
  }
  for (; s < last; ++s) {
    const auto [weight, row] = term(s);
    even.add(weight, row + c);
  }
  even.store(target + c);
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
    for (; c + 16 <= width; c += 16) sum_chunk<16>(first, last, c, add, target, term);
    for (; c + 8 <= width; c += 8) sum_chunk<8>(first, last, c, add, target, term);
    for (; c + 4 <= width; c += 4) sum_chunk<4>(first, last, c, add, target, term);
    for (; c < width; ++c) sum_chunk<1>(first, last, c, add, target, term);
  }
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

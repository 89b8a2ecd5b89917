// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "core/clones.hpp"
#include "recover/kernels/pack.hpp"
#include "recover/operators/entry_shares.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/types.hpp"
#include "udv/recover/operators/entries.hpp"

/// Inner loops over the rows of thin factors, which are contiguous. K is the number of columns
/// where it is known at compile time (up to kMaxFixedWidth), else 0 and `width` counts. Wide rows
/// are cut into chunks, chunk by chunk over all lines: a chunk of a factor fits a nearer cache.
namespace udv::kernels {

/// Calls body(std::integral_constant<int, C>, c) for the chunks c .. c + C of a row.
template <int K, typename Body>
UDV_INLINE void over_chunks(Index width, const Body& body) {
  if constexpr (K > 0) {
    body(std::integral_constant<int, K>(), Index{0});
  } else {
    Index c = 0;
    for (; c + 32 <= width; c += 32) body(std::integral_constant<int, 32>(), c);
    for (; c + 16 <= width; c += 16) body(std::integral_constant<int, 16>(), c);
    for (; c + 8 <= width; c += 8) body(std::integral_constant<int, 8>(), c);
    for (; c + 4 <= width; c += 4) body(std::integral_constant<int, 4>(), c);
    for (; c < width; ++c) body(std::integral_constant<int, 1>(), c);
  }
}

/// out[entry] (+)= sum_c left_ic weights_c conj right_jc for the entries (i, j) of some lines.
template <int K, typename Scalar>
UDV_INLINE void dot_lines(const SparseLines& lines, Index begin, Index end, Index width,
                          const Scalar* left, const RealOf<Scalar>* weights, const Scalar* right,
                          bool add, Scalar* out) {
  if constexpr (kIsComplex<Scalar>) {
    const Eigen::Map<const Reals<Scalar>> d(weights, width);
    for (Index i = begin; i < end; ++i) {
      const Vector<Scalar> row =
          Eigen::Map<const Vector<Scalar>>(left + i * width, width).cwiseProduct(d);
      for (Index s = lines.first[i]; s < lines.first[i + 1]; ++s) {
        const Eigen::Map<const Vector<Scalar>> other(right + lines.other[s] * width, width);
        Scalar& target = out[lines.entry[s]];
        target = (add ? target : Scalar(0)) + other.dot(row);
      }
    }
    return;
  } else {
    over_chunks<K>(width, [&](auto chunk, Index c) UDV_INLINE_BODY {
      constexpr int C = decltype(chunk)::value;
      PackedRow<Scalar, C> row;
      const bool keep = add || c > 0;
      for (Index i = begin; i < end; ++i) {
        row.clear();
        row.add_product(left + i * width + c, weights + c);
        for (Index s = lines.first[i]; s < lines.first[i + 1]; ++s) {
          const Scalar value = row.dot(right + lines.other[s] * width + c);
          Scalar& target = out[lines.entry[s]];
          target = keep ? target + value : value;
        }
      }
    });
  }
}

/// target_i (+)= weight sum_s z[entry_s] other_(j_s) over the entries s of lines begin to end;
/// with conj z where asked for (lines that are columns, of complex numbers).
template <int K, bool kConjugate, typename Scalar>
UDV_INLINE void sum_lines(const SparseLines& lines, Index begin, Index end, Index width,
                          const Scalar* z, RealOf<Scalar> weight, const Scalar* other, bool add,
                          Scalar* target) {
  if constexpr (kIsComplex<Scalar>) {
    for (Index i = begin; i < end; ++i) {
      Eigen::Map<Vector<Scalar>> sum(target + i * width, width);
      if (!add) sum.setZero();
      for (Index s = lines.first[i]; s < lines.first[i + 1]; ++s) {
        const Scalar value = z[lines.entry[s]];
        sum += weight * (kConjugate ? std::conj(value) : value) *
               Eigen::Map<const Vector<Scalar>>(other + lines.other[s] * width, width);
      }
    }
  } else {
    over_chunks<K>(width, [&](auto chunk, Index c) UDV_INLINE_BODY {
      constexpr int C = decltype(chunk)::value;
      const auto add_entry = [&](Index s, PackedRow<Scalar, C>& sum) UDV_INLINE_BODY {
        sum.add(weight * z[lines.entry[s]], other + lines.other[s] * width + c);
      };
      PackedRow<Scalar, C> even, odd;
      for (Index i = begin; i < end; ++i) {
        Scalar* const row = target + i * width + c;
        if (add)
          even.load(row);
        else
          even.clear();
        Index s = lines.first[i];
        const Index last = lines.first[i + 1];
        // Two chains for short rows: each addition would otherwise wait for the one before.
        if constexpr (C <= 16) {
          odd.clear();
          for (; s + 1 < last; s += 2) {
            add_entry(s, even);
            add_entry(s + 1, odd);
          }
          even.add(odd);
        }
        for (; s < last; ++s) add_entry(s, even);
        even.store(row);
      }
    });
  }
}

/// z[entry] *= root[entry]^2 for the entries of some lines.
template <typename Real>
UDV_INLINE void weight_lines(const SparseLines& lines, Index begin, Index end, const Real* root,
                             Real* z) {
  for (Index s = lines.first[begin]; s < lines.first[end]; ++s) {
    const Index entry = lines.entry[s];
    z[entry] *= root[entry] * root[entry];
  }
}

/// Runs body(begin, end) over the lines of this process, on several threads where the work is worth
/// it.
template <typename Body>
void over_lines(const SparseLines& lines, const LineShares& shares, Index width, const Body& body) {
  constexpr Index kWorkPerBlock = 1 << 15;  // multiply-adds: some 10 microseconds
  const Index first = shares.begin(), count = shares.end(lines.count) - first;
  const Index entries = lines.first[first + count] - lines.first[first];
  const Index work = (entries + 1) * std::max<Index>(width, 1);
  const Index blocks = std::clamp<Index>(work / kWorkPerBlock, 1, 64);
  parallel_blocks(count, std::max<Index>(1, (count + blocks - 1) / blocks),
                  [&](Index begin, Index end) { body(first + begin, first + end); });
}

/// Too little to be shared.
inline constexpr Index kNoWork = -1;

/// The work of a kernel with `width` multiply-adds for each entry.
template <typename Scalar>
Index work_of(const EntriesOperator<Scalar>& op, Index width) {
  return op.num_measurements() * std::max<Index>(width, 1);
}

/// Row by row: measure(width, rows, begin, end) fills z for the entries of some rows, then
/// for_u_i (+)= weight sum z v_j; after that, column by column, for_v_j (+)= weight sum z u_i.
/// Where symmetric, for_v is for_u and gets the sum of both. Where several processes share the
/// work, either all z are gathered, or measure.again(width, columns, begin, end) fills those of the
/// own columns: their owners compute what the owners of the rows have computed, bit for bit.
template <typename Scalar, typename Measure>
void measure_and_gather(const EntriesOperator<Scalar>& op, Index k, const Measure& measure,
                        Scalar* z, RealOf<Scalar> weight, const Scalar* U, const Scalar* V,
                        Scalar* for_u, Scalar* for_v) {
  constexpr bool kAgain = Measure::kAgain;
  const LineShares& known = op.shares().of_entries(work_of(op, k));
  const Index work = kAgain || known.shared() ? work_of(op, k) : kNoWork;
  const LineShares& row_shares = op.shares().of_rows(work);
  const LineShares& col_shares = op.shares().of_cols(work);
  with_width<Scalar>(k, [&](auto fixed) {
    constexpr int K = decltype(fixed)::value;
    const SparseLines rows = op.by_row();
    const auto row_side = [&](Index begin, Index end) UDV_INLINE_BODY {
      measure(fixed, rows, begin, end);
      sum_lines<K, false>(rows, begin, end, k, z, weight, V, false, for_u);
    };
    over_lines(rows, row_shares, 3 * k, [&](Index begin, Index end) UDV_CLONED {
      // Line by line the rows of V are still near when they are needed again.
      if constexpr (K > 0)
        for (Index i = begin; i < end; ++i) row_side(i, i + 1);
      else
        row_side(begin, end);
    });
    if (!kAgain) known.gather(z, sizeof(Scalar));
    for (Index t = 0; t < op.by_col().tiles(); ++t) {
      const SparseLines cols = op.by_col().tile(t);
      over_lines(cols, col_shares, 2 * k, [&](Index begin, Index end) UDV_CLONED {
        if constexpr (kAgain)
          if (col_shares.shared()) measure.again(fixed, cols, begin, end);
        sum_lines<K, kIsComplex<Scalar>>(cols, begin, end, k, z, weight, U, op.symmetric() || t > 0,
                                         for_v);
      });
    }
  });
  const Index bytes = k * static_cast<Index>(sizeof(Scalar));
  row_shares.gather(for_u, bytes);
  if (!op.symmetric()) col_shares.gather(for_v, bytes);
}

}  // namespace udv::kernels

// SPDX-License-Identifier: MIT
#include "entries_linearization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "entries_kernels.hpp"

namespace udv {
namespace {

constexpr Index packed_size(Index k) {
  return k * (k + 1) / 2;
}

constexpr int kTogether = 4;  // outer products for each time that a block is read and written

// block += sum of weight_n z_n z_n^T in their order, lower triangle packed by rows.
template <int K, int N, typename Scalar>
inline void add_outer(const Scalar* weight, const Scalar* const* z, Scalar* block, Index width) {
  const Index k = K > 0 ? K : width;
  for (Index r = 0; r < k; ++r) {
    Scalar factor[N];
    for (int n = 0; n < N; ++n) factor[n] = weight[n] * z[n][r];
#pragma omp simd
    for (Index c = 0; c <= r; ++c) {
      Scalar sum = block[c];
      for (int n = 0; n < N; ++n) sum += factor[n] * z[n][c];
      block[c] = sum;
    }
    block += r + 1;
  }
}

template <typename Scalar>
inline Scalar short_dot(const Scalar* a, const Scalar* b, Index size) {
  Scalar sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index c = 0; c < size; ++c) sum += a[c] * b[c];
  return sum;
}

// Cholesky factor of block + damping I, packed as the block is, with 1 / L_rr on the diagonal. A
// block of more columns than entries is singular, so the damping is at least its rounding errors:
// flooring pivots instead would let errors grow from one pivot to the next.
template <typename Scalar>
void factor_block(const Scalar* block, double damping, Index k, Scalar* factor) {
  for (Index r = 0; r < k; ++r) {
    Scalar* const row = factor + packed_size(r);
    for (Index c = 0; c <= r; ++c) {
      const Scalar* const other = factor + packed_size(c);
      const Scalar value = block[packed_size(r) + c] - short_dot(row, other, c);
      if (c < r) {
        row[c] = value * other[c];
      } else {
        const double rounding = 500 * kEpsilon<Scalar> * block[packed_size(r) + r] +
                                1e18 * std::numeric_limits<Scalar>::min();
        const double shift = std::max(damping, rounding);
        row[r] = static_cast<Scalar>(1 / std::sqrt(std::max<double>(value, 0) + shift));
      }
    }
  }
}

// x = (L L^T)^-1 rhs
template <typename Scalar>
void solve_block(const Scalar* factor, const Scalar* rhs, Index k, Scalar* x) {
  for (Index r = 0; r < k; ++r) {
    const Scalar* const row = factor + packed_size(r);
    x[r] = (rhs[r] - short_dot(row, x, r)) * row[r];
  }
  for (Index r = k - 1; r >= 0; --r) {
    const Scalar* const row = factor + packed_size(r);
    x[r] *= row[r];
    const Scalar known = x[r];
#pragma omp simd
    for (Index c = 0; c < r; ++c) x[c] -= known * row[c];
  }
}

// Adds to each line's block the outer products of the rows that its entries meet, times the
// squares of `root` where there is one.
template <typename Scalar>
void add_blocks(const SparseLines& lines, const LineShares& shares, const ConstRows<Scalar>& other,
                bool symmetric, const Scalar* root, Scalar* blocks) {
  const Index k = other.cols();
  with_width<Scalar>(k, [&](auto fixed) {
    constexpr int K = decltype(fixed)::value;
    kernels::over_lines(lines, shares, packed_size(k), [&](Index begin, Index end) UDV_CLONED {
      Scalar weight[kTogether];
      const Scalar* z[kTogether];
      const auto take = [&](Index i, auto s, int n) UDV_INLINE_BODY {
        const Index j = lines.other[s];
        // x_ii = |u_i|^2 has derivative 2 u_i: 4 u u^T in all, half of it from either pass.
        weight[n] = symmetric && j == i ? 2.0 : 1.0;
        if (root) weight[n] *= root[lines.entry[s]] * root[lines.entry[s]];
        z[n] = other.data() + j * k;
      };
      for (Index i = begin; i < end; ++i) {
        Scalar* const block = blocks + i * packed_size(k);
        auto s = lines.first[i];
        for (; s + kTogether <= lines.first[i + 1]; s += kTogether) {
          for (int n = 0; n < kTogether; ++n) take(i, s + n, n);
          add_outer<K, kTogether>(weight, z, block, k);
        }
        for (; s < lines.first[i + 1]; ++s) {
          take(i, s, 0);
          add_outer<K, 1>(weight, z, block, k);
        }
      }
    });
  });
}

// measured = w (P_i . v_j + u_i . P_j), by rows or by columns: products commute.
template <typename Scalar>
struct TangentMeasure {
  static constexpr bool kAgain = true;
  Index k;
  const Scalar *U, *V, *PU, *PV, *ones, *root;
  Scalar* measured;

  template <int K>
  UDV_INLINE void operator()(std::integral_constant<int, K>, const SparseLines& rows, Index begin,
                             Index end) const {
    kernels::dot_lines<K>(rows, begin, end, k, PU, ones, V, false, measured);
    kernels::dot_lines<K>(rows, begin, end, k, U, ones, PV, true, measured);
    if (root) kernels::weight_lines(rows, begin, end, root, measured);
  }
  template <int K>
  UDV_INLINE void again(std::integral_constant<int, K>, const SparseLines& cols, Index begin,
                        Index end) const {
    kernels::dot_lines<K>(cols, begin, end, k, V, ones, PU, false, measured);
    kernels::dot_lines<K>(cols, begin, end, k, PV, ones, U, true, measured);
    if (root) kernels::weight_lines(cols, begin, end, root, measured);
  }
};

}  // namespace

template <typename Scalar>
EntriesLinearization<Scalar>::EntriesLinearization(const EntriesOperator<Scalar>& op,
                                                   const StackedFactors<Scalar>& Z)
    : op_(op), Z_(Z), measured_(op.num_measurements()) {
  const Index size = packed_size(Z.rank());
  blocks_.setZero(Z.Z.rows(), size);
  const Index col_block = Z.symmetric ? 0 : op.rows() * size;
  const Scalar* const root = op.root_weights().size() > 0 ? op.root_weights().data() : nullptr;
  const Index work = kernels::work_of(op, size);
  const LineShares& rows = op.shares().of_rows(work);
  const LineShares& cols = op.shares().of_cols(work);
  add_blocks<Scalar>(op.by_row(), rows, Z.V(), Z.symmetric, root, blocks_.data());
  for (Index t = 0; t < op.by_col().tiles(); ++t)
    add_blocks<Scalar>(op.by_col().tile(t), cols, Z.U(), Z.symmetric, root,
                       blocks_.data() + col_block);
  const Index bytes = size * static_cast<Index>(sizeof(Scalar));
  rows.gather(blocks_.data(), bytes);
  if (!Z.symmetric) cols.gather(blocks_.data() + col_block, bytes);
}

template <typename Scalar>
void EntriesLinearization<Scalar>::normal_product(const RowMatrix<Scalar>& P,
                                                  RowMatrix<Scalar>& Y) {
  const Index k = Z_.rank();
  const Index offset = Z_.symmetric ? 0 : op_.rows() * k;  // of the column side in Z, P and Y
  const Scalar* const U = Z_.Z.data();
  const Scalar* const V = U + offset;
  const Scalar* const PV = P.data() + offset;
  const Scalar* const root = op_.root_weights().size() > 0 ? op_.root_weights().data() : nullptr;
  const Reals<Scalar> ones = Reals<Scalar>::Ones(k);
  Y.resize(P.rows(), k);
  const TangentMeasure<Scalar> measure{k, U, V, P.data(), PV, ones.data(), root, measured_.data()};
  kernels::measure_and_gather<Scalar>(op_, k, measure, measured_.data(), Scalar(1), U, V, Y.data(),
                                      Y.data() + offset);
}

template <typename Scalar>
double EntriesLinearization<Scalar>::mean_diagonal() const {
  double total = 0;
  for (Index r = 0; r < Z_.rank(); ++r) total += blocks_.col(packed_size(r) + r).sum();
  return total / static_cast<double>(Z_.Z.size());
}

template <typename Scalar>
void EntriesLinearization<Scalar>::factor_preconditioner(double damping) {
  const Index k = Z_.rank();
  factors_.resize(blocks_.rows(), blocks_.cols());
  parallel_blocks(blocks_.rows(), 1 + 20000 / (k * k * k + 1),
                  [&](Index begin, Index end) UDV_CLONED {
                    for (Index i = begin; i < end; ++i)
                      factor_block(blocks_.data() + i * blocks_.cols(), damping, k,
                                   factors_.data() + i * blocks_.cols());
                  });
}

template <typename Scalar>
void EntriesLinearization<Scalar>::precondition(const RowMatrix<Scalar>& R,
                                                RowMatrix<Scalar>& Y) const {
  const Index k = Z_.rank();
  Y.resize(R.rows(), k);
  parallel_blocks(R.rows(), 1 + 60000 / (k * k + 1), [&](Index begin, Index end) UDV_CLONED {
    for (Index i = begin; i < end; ++i)
      solve_block(factors_.data() + i * factors_.cols(), R.data() + i * k, k, Y.data() + i * k);
  });
}

template class EntriesLinearization<float>;
template class EntriesLinearization<double>;

}  // namespace udv

// SPDX-License-Identifier: MIT
#include "udv/recover/operators/entries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/instantiate.hpp"
#include "core/machine.hpp"
#include "core/require.hpp"
#include "core/sums.hpp"
#include "entries_kernels.hpp"
#include "entries_linearization.hpp"
#include "recover/device/entries_device.hpp"
#include "recover/operators/scalar_values.hpp"
#include "udv/core/options.hpp"

namespace udv {
namespace {

using Indices = std::vector<std::int32_t>;

void check_number_of_entries(Index size) {
  require(size <= most_entries(), "entries: ", size, " found, at most ", most_entries(),
          " in one process expected; leave some out, complete parts of the matrix, or share noisy "
          "ones among processes");
}

void check(const Entries& entries) {
  require(entries.rows > 0 && entries.cols > 0, "entries: the matrix is ", entries.rows, " x ",
          entries.cols, ", at least 1 x 1 expected");
  require(entries.size() > 0, "entries: none given");
  check_number_of_entries(entries.size());
  require(!entries.symmetric || entries.rows == entries.cols, "entries: a symmetric matrix is ",
          entries.rows, " x ", entries.cols, ", square expected");
  require(entries.row.size() == entries.value.size() && entries.col.size() == entries.value.size(),
          "entries: ", entries.row.size(), " rows, ", entries.col.size(), " columns and ",
          entries.value.size(), " values, equally many expected");
  for (size_t t = 0; t < entries.row.size(); ++t)
    require(entries.row[t] >= 0 && entries.row[t] < entries.rows && entries.col[t] >= 0 &&
                entries.col[t] < entries.cols,
            "entries: entry ", t, " stands at (", entries.row[t], ", ", entries.col[t],
            "), outside ", entries.rows, " x ", entries.cols);
}

// sqrt(w), nothing where no weights are given.
template <typename Scalar>
Reals<Scalar> root_of(const std::vector<double>& weight, Index size) {
  if (weight.empty()) return {};
  require(static_cast<Index>(weight.size()) == size, "entries: ", weight.size(), " weights and ",
          size, " values, equally many expected");
  Reals<Scalar> root(size);
  for (Index t = 0; t < size; ++t) {
    const double w = weight[static_cast<size_t>(t)];
    require(std::isfinite(w) && w >= 0, "entries: entry ", t, " has weight ", w,
            ", a finite number that is not negative expected");
    root(t) = static_cast<RealOf<Scalar>>(std::sqrt(w));
  }
  require((root.array() > 0).any(), "entries: all ", size, " weights are zero");
  return root;
}

// values_t *= factor_t
template <typename Scalar>
void scale_entries(const Reals<Scalar>& factor, Scalar* values) {
  constexpr Index kBlock = 1 << 15;
  parallel_blocks(factor.size(), kBlock, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) values[t] *= factor(t);
  });
}

// out = weight R other with z in R, or added to out; conj R where asked for: lines that are
// columns.
template <bool kConjugate, typename Scalar>
void gather(const TiledLines& tiled, const LineShares& shares, const RealOf<Scalar>* z,
            const ConstRows<Scalar>& other, RealOf<Scalar> weight, bool add, Rows<Scalar> out) {
  const Index k = other.cols();
  const Scalar* const values = as_scalars<Scalar>(z);
  with_width<Scalar>(k, [&](auto fixed) {
    constexpr int K = decltype(fixed)::value;
    for (Index t = 0; t < tiled.tiles(); ++t) {
      const SparseLines lines = tiled.tile(t);
      kernels::over_lines(lines, shares, k, [&](Index begin, Index end) UDV_CLONED {
        kernels::sum_lines<K, kConjugate>(lines, begin, end, k, values, weight, other.data(),
                                          add || t > 0, out.data());
      });
    }
  });
}

// values_t = sum_c U_ic weights_c V_jc, and the mirror image of it where asked for.
template <typename Scalar>
void apply_on_host(const EntriesOperator<Scalar>& op, const ConstRows<Scalar>& U,
                   const Reals<Scalar>& weights, const ConstRows<Scalar>& V, bool mirror,
                   Scalar* values) {
  const Index k = U.cols();
  const SparseLines rows = op.by_row();
  const Index work = kernels::work_of(op, k);
  const LineShares& known = op.shares().of_entries(work);
  const LineShares& row_shares = op.shares().of_rows(known.shared() ? work : kernels::kNoWork);
  with_width<Scalar>(k, [&](auto fixed) {
    constexpr int K = decltype(fixed)::value;
    kernels::over_lines(
        rows, row_shares, mirror ? 2 * k : k, [&](Index begin, Index end) UDV_CLONED {
          const Scalar *left = U.data(), *right = V.data();
          for (int pass = 0; pass < (mirror ? 2 : 1); ++pass, std::swap(left, right))
            kernels::dot_lines<K>(rows, begin, end, k, left, weights.data(), right, pass > 0,
                                  values);
        });
  });
  known.gather(values, sizeof(Scalar));
}

// The same on the device.
template <typename Scalar>
void apply_on_device(const device::EntriesOnDevice<Scalar>& entries, const ConstRows<Scalar>& U,
                     const Reals<Scalar>& weights, const ConstRows<Scalar>& V, bool mirror,
                     Scalar* values) {
  const Index k = U.cols();
  if (k == 0) return;
  RowMatrix<Scalar> left(U.rows(), mirror ? 2 * k : k), right(V.rows(), left.cols());
  left.leftCols(k) = U * weights.asDiagonal();
  right.leftCols(k) = V;
  if (mirror) {
    left.rightCols(k) = V * weights.asDiagonal();
    right.rightCols(k) = U;
  }
  entries.products(left, right, values);
}

// Residuals of one tile: half of a second-level cache; but some entries for each line and tile.
constexpr Index kTileSize = 1 << 16;
constexpr Index kLineShare = 8;

// Problems of a few thousand multiplications: one pass over the entries that scatters into both
// sides beats three that gather, and no second thread could help. A matter of sizes alone, so
// that results do not depend on the number of threads.
constexpr Index kSmallWork = 1 << 15;

// z = A(U diag(d) V^T) - b, for_u += weight R V, for_v += weight R^T U with z in R.
template <int K, typename Scalar>
class ResidualScatter {
 public:
  ResidualScatter(const SparseLines& rows, const Scalar* V, const Scalar* b, Scalar weight,
                  Scalar* z, Scalar* for_u, Scalar* for_v)
      : rows_(rows), V_(V), b_(b), weight_(weight), z_(z), for_u_(for_u), for_v_(for_v) {}

  // Two entries at a time: their residuals and row sums do not wait for each other.
  UDV_CLONED void run(const Scalar* U, const Scalar* d) const {
    PackedRow<Scalar, K> left, u, even, odd, scattered;
    for (Index i = 0; i < rows_.count; ++i) {
      u.load(U + i * K);
      left.clear();
      left.add_product(U + i * K, d);
      even.clear();
      odd.clear();
      Index s = rows_.first[i];
      const Index last = rows_.first[i + 1];
      for (; s + 1 < last; s += 2) {
        add_entry(s, left, u, even);
        add_entry(s + 1, left, u, odd);
      }
      if (s < last) add_entry(s, left, u, even);
      even.add(odd);
      // Where symmetric, entries of this and other rows have scattered into this one.
      scattered.load(for_u_ + i * K);
      even.add(scattered);
      even.store(for_u_ + i * K);
    }
  }

 private:
  UDV_INLINE void add_entry(Index s, const PackedRow<Scalar, K>& left,
                            const PackedRow<Scalar, K>& u, PackedRow<Scalar, K>& row_sum) const {
    const Index entry = rows_.entry[s];
    const Index j = rows_.other[s] * K;
    const Scalar residual = left.dot(V_ + j) - b_[entry];
    z_[entry] = residual;
    row_sum.add(weight_ * residual, V_ + j);
    PackedRow<Scalar, K> target;
    target.load(for_v_ + j);
    target.add(weight_ * residual, u);
    target.store(for_v_ + j);
  }

  const SparseLines rows_;
  const Scalar* V_;
  const Scalar* b_;
  Scalar weight_;
  Scalar* z_;
  Scalar* for_u_;
  Scalar* for_v_;
};

// z += A(U diag(d) V^*) for the entries of some rows.
template <typename Scalar>
struct ResidualMeasure {
  static constexpr bool kAgain = false;  // z is part of the answer
  Index k;
  const Scalar* U;
  const RealOf<Scalar>* d;
  const Scalar* V;
  Scalar* z;

  template <int K>
  UDV_INLINE void operator()(std::integral_constant<int, K>, const SparseLines& rows, Index begin,
                             Index end) const {
    kernels::dot_lines<K>(rows, begin, end, k, U, d, V, true, z);
  }
};

// Entries of each line, those of weight 0 left out.
template <typename Real>
std::vector<Index> line_sizes(const TiledLines& lines, const Vector<Real>& root, Index all,
                              const LineShares& shares) {
  std::vector<Index> sizes(static_cast<size_t>(all));
  const Index begin = lines.tile(0).begin;
  for (Index i = begin; i < begin + lines.lines(); ++i)
    sizes[static_cast<size_t>(i)] = lines.line_size(i);
  shares.gather(sizes.data(), sizeof(Index));
  for (Index t = 0; root.size() > 0 && t < lines.tiles(); ++t) {
    const SparseLines tile = lines.tile(t);
    for (Index i = 0; i < tile.count; ++i)
      for (auto s = tile.first[i]; s < tile.first[i + 1]; ++s)
        if (root(tile.entry[s]) == 0) --sizes[static_cast<size_t>(i)];
  }
  return sizes;
}

}  // namespace

// visible_k = sum over lines of min(k, entries of the line) = sum over j <= k of the lines with at
// least j entries, for k up to the longest line or kMostInTable.
constexpr Index kMostInTable = 4096;

std::vector<double> visible_parameters(const std::vector<Index>& rows,
                                       const std::vector<Index>& cols, bool symmetric) {
  std::vector<double> lines(static_cast<size_t>(kMostInTable) + 1, 0);
  const auto count = [&](Index size) {
    ++lines[static_cast<size_t>(std::min(size, kMostInTable))];
  };
  for (size_t i = 0; i < rows.size(); ++i) count(symmetric ? rows[i] + cols[i] : rows[i]);
  for (size_t j = 0; !symmetric && j < cols.size(); ++j) count(cols[j]);
  for (size_t k = lines.size() - 1; k > 0; --k) lines[k - 1] += lines[k];
  lines[0] = 0;
  std::partial_sum(lines.begin(), lines.end(), lines.begin());
  return lines;
}

// Counting sort by (tile, line).
template <typename TileOf>
void TiledLines::sort(const Indices& key, const Indices& other, const TileOf& tile_of) {
  const auto size = static_cast<Index>(key.size());
  const auto bucket = [&](Index t) {
    return tile_of(t) * lines_ + key[static_cast<size_t>(t)] - begin_;
  };
  first_.assign(static_cast<size_t>(tiles_ * lines_) + 1, 0);
  for (Index t = 0; t < size; ++t) ++first_[static_cast<size_t>(bucket(t)) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  other_.resize(key.size());
  entry_.resize(key.size());
  Indices next(first_.begin(), first_.end() - 1);
  for (Index t = 0; t < size; ++t) {
    const auto place = static_cast<size_t>(next[static_cast<size_t>(bucket(t))]++);
    other_[place] = other[static_cast<size_t>(t)];
    entry_[place] = static_cast<std::int32_t>(t);
  }
}

TiledLines::TiledLines(Index lines, const Indices& key, const Indices& other, Index tile_size)
    : lines_(lines) {
  const auto size = static_cast<Index>(key.size());
  if (tile_size <= 0) tile_size = std::max<Index>(size, 1);
  tiles_ = (size + tile_size - 1) / tile_size;
  sort(key, other, [tile_size](Index t) { return t / tile_size; });
}

TiledLines::TiledLines(Index begin, Index end, const Indices& key, const Indices& other,
                       const std::vector<Index>& number, Index tile_size)
    : begin_(begin), lines_(end - begin), tiles_(1) {
  if (!number.empty()) tiles_ = *std::max_element(number.begin(), number.end()) / tile_size + 1;
  sort(key, other,
       [&](Index t) { return number.empty() ? 0 : number[static_cast<size_t>(t)] / tile_size; });
}

EntryShares::EntryShares(const TiledLines& by_row, const TiledLines& by_col, bool symmetric) {
  if (communicator().is_alone()) return;
  const auto weights = [](const TiledLines& lines, const TiledLines* more) {
    std::vector<Index> before{0};
    for (Index i = 0; i < lines.lines(); ++i)
      before.push_back(before.back() + 1 + lines.line_size(i) + (more ? more->line_size(i) : 0));
    return before;
  };
  rows = fair_shares(weights(by_row, symmetric ? &by_col : nullptr));
  cols = symmetric ? rows : fair_shares(weights(by_col, nullptr));
  const SparseLines all = by_row.tile(0);
  for (Index s = 0; s < all.size(); ++s)
    if (all.entry[s] != s) return;
  for (const Index row : rows.bounds) entries.bounds.push_back(all.first[row]);
}

Index TiledLines::line_size(Index i) const {
  Index size = 0;
  for (Index t = 0; t < tiles_; ++t) size += tile(t).first[i + 1] - tile(t).first[i];
  return size;
}

template <typename Scalar>
Index EntriesOperator<Scalar>::tile_size(Index cols) {
  return std::max(kTileSize, kLineShare * cols);
}

template <typename Scalar>
bool EntriesOperator<Scalar>::is_spread() const {
  return shares().spread != nullptr;
}

template <typename Scalar>
Index EntriesOperator<Scalar>::num_own() const {
  return is_spread() ? shares().spread->own : this->num_measurements();
}

template <typename Scalar>
EntriesOperator<Scalar>::EntriesOperator(const Entries& entries)
    : MeasurementOperator<Scalar>(entries.rows, entries.cols, kParts<Scalar> * entries.size(),
                                  entries.symmetric) {
  check(entries);
  auto pattern = std::make_shared<Pattern>();
  pattern->by_row = TiledLines(entries.rows, entries.row, entries.col);
  pattern->by_col = TiledLines(entries.cols, entries.col, entries.row, tile_size(entries.cols));
  pattern->shares =
      std::make_shared<EntryShares>(pattern->by_row, pattern->by_col, entries.symmetric);
  pattern_ = std::move(pattern);
  root_ = root_of<Scalar>(entries.weight, entries.size());
}

template <typename Scalar>
Reals<Scalar> EntriesOperator<Scalar>::times_root(const Reals<Scalar>& z) const {
  Reals<Scalar> product = z;
  scale_entries<Scalar>(root_, as_scalars<Scalar>(product.data()));
  return product;
}

template <typename Scalar>
void EntriesOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                    const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  const Index k = U.cols();
  // Only a symmetric map of an unsymmetric U diag(d) V^T needs the mirror image too.
  const bool mirror = this->symmetric() && U.data() != V.data();
  const Reals<Scalar> weights = mirror ? Reals<Scalar>(d / 2) : d;
  y.resize(num_own());
  Scalar* const values = as_scalars<Scalar>(y.data());
  if (k == 0) y.setZero();  // the kernels write nothing where there is no column
  if constexpr (!kIsComplex<Scalar>)
    if (device_) apply_on_device(*device_, U, weights, V, mirror, values);
  if (!device_) apply_on_host<Scalar>(*this, U, weights, V, mirror, values);
  if (weighted()) scale_entries<Scalar>(root_, values);
}

// The lines of a side, 0: rows, 1: columns.
template <typename Scalar>
void EntriesOperator<Scalar>::sum_lines(int side, const LineShares& lines, const Reals<Scalar>& z,
                                        const ConstRows<Scalar>& other, RealOf<Scalar> weight,
                                        bool add, Rows<Scalar> out) const {
  if constexpr (!kIsComplex<Scalar>)
    if (device_) return device_->gather(side, z.data(), other, weight, add, out);
  if (side == 0)
    gather<false, Scalar>(pattern_->by_row, lines, z.data(), other, weight, add, out);
  else
    gather<kIsComplex<Scalar>, Scalar>(by_col(), lines, z.data(), other, weight, add, out);
}

template <typename Scalar>
void EntriesOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                            Rows<Scalar> out) const {
  const RealOf<Scalar> share = this->symmetric() ? 0.5 : 1.0;
  const Reals<Scalar> scaled = weighted() ? times_root(z) : Reals<Scalar>();
  const Reals<Scalar>& values = weighted() ? scaled : z;
  const LineShares& lines = shares().of_rows(kernels::work_of(*this, V.cols()));
  sum_lines(0, lines, values, V, share, false, out);
  if (this->symmetric()) sum_lines(1, lines, values, V, share, true, out);
  lines.gather(out.data(), V.cols() * static_cast<Index>(sizeof(Scalar)));
}

template <typename Scalar>
void EntriesOperator<Scalar>::adjoint_transpose_times(const Reals<Scalar>& z,
                                                      const ConstRows<Scalar>& U,
                                                      Rows<Scalar> out) const {
  if (this->symmetric()) return adjoint_times(z, U, out);
  if constexpr (std::is_same_v<Scalar, double>)
    if (is_spread()) return spread_transpose_times(z, U, out);
  const LineShares& lines = shares().of_cols(kernels::work_of(*this, U.cols()));
  if (weighted())
    sum_lines(1, lines, times_root(z), U, 1, false, out);
  else
    sum_lines(1, lines, z, U, 1, false, out);
  lines.gather(out.data(), U.cols() * static_cast<Index>(sizeof(Scalar)));
}

// The owners of columns get z from the owners of rows.
template <typename Scalar>
void EntriesOperator<Scalar>::spread_transpose_times(const Reals<Scalar>& z,
                                                     const ConstRows<Scalar>& U,
                                                     Rows<Scalar> out) const {
  if constexpr (std::is_same_v<Scalar, double>) {
    const std::vector<double> of_cols = to_columns(*this, z.data());
    own_columns_times(*this, of_cols.data(), U, out);
  }
}

void own_columns_times(const EntriesOperator<double>& op, const double* of_cols,
                       const ConstRows<double>& U, Rows<double> out) {
  const LineShares& lines = op.shares().spread->cols;
  gather<false, double>(op.by_col(), lines, of_cols, U, 1, false, out);
  lines.gather(out.data(), U.cols() * static_cast<Index>(sizeof(double)));
}

template <typename Scalar>
void EntriesOperator<Scalar>::residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                                const ConstRows<Scalar>& V, const Reals<Scalar>& b,
                                                Reals<Scalar>& z, Rows<Scalar> for_u,
                                                Rows<Scalar> for_v) const {
  if (weighted() || device_)
    return MeasurementOperator<Scalar>::residual_products(U, d, V, b, z, for_u, for_v);
  const Index k = U.cols();
  const bool symmetric = this->symmetric();
  const RealOf<Scalar> weight = symmetric ? 0.5 : 1.0;
  Scalar* const second = symmetric ? for_u.data() : for_v.data();
  z.resize(b.size());
  if (!kIsComplex<Scalar> && k > 0 && k <= kMaxFixedWidth && b.size() * k <= kSmallWork) {
    for_u.setZero();
    if (!symmetric) for_v.setZero();
    with_width<Scalar>(k, [&](auto fixed) {
      constexpr int K = decltype(fixed)::value;
      if constexpr (K > 0 && !kIsComplex<Scalar>)
        ResidualScatter<K, Scalar>(by_row(), V.data(), b.data(), weight, z.data(), for_u.data(),
                                   second)
            .run(U.data(), d.data());
    });
  } else {
    z = -b;
    Scalar* const values = as_scalars<Scalar>(z.data());
    const ResidualMeasure<Scalar> measure{k, U.data(), d.data(), V.data(), values};
    kernels::measure_and_gather<Scalar>(*this, k, measure, values, weight, U.data(), V.data(),
                                        for_u.data(), second);
  }
}

template <typename Scalar>
double EntriesOperator<Scalar>::mean_gain() const {
  // A symmetric off-diagonal entry has A_i = (E_ij + E_ji) / 2, of squared norm 1/2, but it sees
  // a symmetric X twice: as for sampling, |A(X)|^2 / |X|^2 is the share of known entries.
  const double total = weighted() ? squared_norm(root_)
                                  : static_cast<double>(this->num_measurements() / kParts<Scalar>);
  return total / (static_cast<double>(this->rows()) * static_cast<double>(this->cols()));
}

template <typename Scalar>
double EntriesOperator<Scalar>::norm_bound() const {
  return weighted() ? static_cast<double>(root_.maxCoeff()) : 1.0;
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> EntriesOperator<Scalar>::linearize(
    const StackedFactors<Scalar>& Z) const {
  if constexpr (kIsComplex<Scalar>)
    return MeasurementOperator<Scalar>::linearize(Z);
  else if (device_)
    return device::linearize_on_device(*this, Z);
  else
    return std::make_unique<EntriesLinearization<Scalar>>(*this, Z);
}

template <typename Scalar>
const typename EntriesOperator<Scalar>::Sizes& EntriesOperator<Scalar>::sizes() const {
  std::call_once(sizes_->once, [this] {
    const LineShares none;
    const EntrySpread* const spread = shares().spread.get();
    sizes_->rows = line_sizes(pattern_->by_row, root_, this->rows(), spread ? spread->rows : none);
    sizes_->cols = line_sizes(by_col(), root_, this->cols(), spread ? spread->cols : none);
    sizes_->visible = visible_parameters(sizes_->rows, sizes_->cols, this->symmetric());
  });
  return *sizes_;
}

template <typename Scalar>
double EntriesOperator<Scalar>::degrees_of_freedom(Index rank) const {
  const auto k = static_cast<double>(rank);
  constexpr auto kUnit = static_cast<double>(kParts<Scalar>);
  const double shown = visible(rank);
  if (!this->symmetric()) return std::max(kUnit * (shown - k * k), k);
  // The gauge of U U^* is a rotation: k (k - 1) / 2 parameters, or k^2 where complex.
  const double gauge = kIsComplex<Scalar> ? k * k : k * (k - 1) / 2;
  return std::max(kUnit * shown - gauge, k);
}

// Sum over lines of min(rank, entries); where symmetric a line is a row and its column.
template <typename Scalar>
double EntriesOperator<Scalar>::visible(Index rank) const {
  const Sizes& all = sizes();
  if (rank < static_cast<Index>(all.visible.size()))
    return all.visible[static_cast<size_t>(std::max<Index>(rank, 0))];
  double total = 0;
  const auto add = [&](Index size) { total += static_cast<double>(std::min(size, rank)); };
  for (size_t i = 0; i < all.rows.size(); ++i)
    add(this->symmetric() ? all.rows[i] + all.cols[i] : all.rows[i]);
  for (size_t j = 0; !this->symmetric() && j < all.cols.size(); ++j) add(all.cols[j]);
  return total;
}

template <typename Scalar>
bool EntriesOperator<Scalar>::in_order_of_rows() const {
  std::call_once(pattern_->looked, [this] {
    const SparseLines rows = by_row();
    pattern_->in_order = true;
    for (Index i = rows.begin; i < rows.count; ++i)  // within a row it is that of its columns
      if (rows.first[i] < rows.first[i + 1] && rows.entry[rows.first[i]] != rows.first[i])
        pattern_->in_order = false;
  });
  return pattern_->in_order;
}

template <typename Scalar>
EntriesOperator<Scalar> EntriesOperator<Scalar>::restricted(const std::vector<Index>& which) const {
  const auto n = static_cast<size_t>(this->num_measurements() / kParts<Scalar>);
  Indices row(n), col(n);
  const SparseLines rows = by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      row[rows.entry[s]] = static_cast<std::int32_t>(i);
      col[rows.entry[s]] = rows.other[s];
    }
  Entries kept{this->rows(), this->cols(), this->symmetric(), {}, {}, {}};
  for (const Index t : which) {
    kept.row.push_back(row[t]);
    kept.col.push_back(col[t]);
  }
  kept.value.assign(which.size(), 0.0);
  EntriesOperator result(kept);
  if (weighted()) result.root_ = root_(which);  // before its sizes are counted
  if constexpr (!kIsComplex<Scalar>)
    if (device_) result.move_to_device(device_->columns());
  return result;
}

template <typename Scalar>
void EntriesOperator<Scalar>::move_to_device([[maybe_unused]] Index columns) {
  if constexpr (!kIsComplex<Scalar>)
    device_ = std::make_shared<device::EntriesOnDevice<Scalar>>(*this, columns);
}

template <typename Scalar>
std::shared_ptr<const MeasurementOperator<Scalar>> EntriesOperator<Scalar>::on_device(
    Index columns) const {
  if (kIsComplex<Scalar>) return MeasurementOperator<Scalar>::on_device(columns);
  auto result = std::make_shared<EntriesOperator>(*this);
  if (!device_) result->move_to_device(columns);
  return result;
}

template <typename Scalar>
std::shared_ptr<const device::GradientModel<RealOf<Scalar>>>
EntriesOperator<Scalar>::gradient_model(const Reals<Scalar>& b) const {
  if constexpr (!kIsComplex<Scalar>)
    if (device_) return std::make_shared<device::EntriesResidual<Scalar>>(*this, b);
  return nullptr;
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> EntriesOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  return std::make_unique<EntriesOperator>(restricted(which));
}

template <typename Scalar>
EntriesOperator<Scalar> EntriesOperator<Scalar>::rescaled(const Reals<Scalar>& factor) const {
  require(factor.size() == this->num_measurements() / kParts<Scalar>, "entries: ", factor.size(),
          " factors for ", this->num_measurements() / kParts<Scalar>, " entries");
  EntriesOperator result = *this;
  result.root_ = weighted() ? Reals<Scalar>(root_.cwiseProduct(factor)) : factor;
  result.sizes_ = std::make_shared<Sizes>();
  return result;
}

#define UDV_INSTANTIATE(Scalar) template class EntriesOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

struct EntryShares;
struct LineShares;
namespace device {
template <typename Scalar>
class EntriesOnDevice;
}

/// A sparse pattern by lines, which are rows or columns. Line i holds positions first[i] to
/// first[i+1]: `other` is the index on the other side, `entry` the number of the measurement.
struct UDV_EXPORT SparseLines {
  Index count;  ///< the line after the last one
  const std::int32_t *first, *other, *entry;
  Index begin = 0;  ///< the first line that is there
  Index size() const { return first[count] - first[begin]; }
};

/// The same pattern cut into tiles of consecutive measurements, each listed by lines: the
/// residuals of one tile stay in a near cache while its lines are visited in any order.
class UDV_EXPORT TiledLines {
 public:
  /// Line i gets the measurements t with key[t] = i, in their given order. 0: all in one tile.
  TiledLines(Index lines, const std::vector<std::int32_t>& key,
             const std::vector<std::int32_t>& other, Index tile_size = 0);
  /// Lines `begin` to `end` alone; measurement t is in the tile number[t] / tile_size of the whole.
  TiledLines(Index begin, Index end, const std::vector<std::int32_t>& key,
             const std::vector<std::int32_t>& other, const std::vector<Index>& number,
             Index tile_size);
  TiledLines() = default;

  Index lines() const { return lines_; }  ///< that are there
  Index tiles() const { return tiles_; }
  SparseLines tile(Index t) const {
    return {begin_ + lines_, first_.data() + t * lines_ - begin_, other_.data(), entry_.data(),
            begin_};
  }
  /// Measurements in line i.
  Index line_size(Index i) const;

 private:
  template <typename TileOf>
  void sort(const std::vector<std::int32_t>& key, const std::vector<std::int32_t>& other,
            const TileOf& tile_of);

  Index begin_ = 0, lines_ = 0, tiles_ = 0;
  std::vector<std::int32_t> first_, other_, entry_;
};

/// A(X)_t = sqrt(w_t) X(row[t], col[t]) with weights w_t, 1 where none are given. With R the sparse
/// matrix that holds sqrt(w) z at these places, A*(z) = R, or (R + R^*) / 2 where symmetric.
/// Entries are numbered in the order given; a complex one is two numbers. Every kernel owns its
/// output lines: threads never meet and the order of sums is fixed.
template <typename Scalar>
class UDV_EXPORT EntriesOperator final : public MeasurementOperator<Scalar> {
 public:
  /// Takes pattern and weights of `entries`; values are ignored. Throws InvalidArgument on an index
  /// outside the matrix, on a bad weight, on no entries and on a symmetric pattern that is not
  /// square.
  explicit EntriesOperator(const Entries& entries);
  /// One of several processes that share the entries, too: `rows` are those of its rows, sorted by
  /// row and column. For real rectangular matrices without weights and with many entries. Knows its
  /// own measurements alone: see num_own(). Collective.
  static EntriesOperator spread(const Entries& rows);

  std::string_view name() const override { return "entries"; }
  /// Measurements that this process holds.
  Index num_own() const;
  /// Several processes hold the entries of their own rows and columns alone.
  bool is_spread() const;
  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  void adjoint_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                               Rows<Scalar> out) const override;
  void residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                         const ConstRows<Scalar>& V, const Reals<Scalar>& b, Reals<Scalar>& z,
                         Rows<Scalar> for_u, Rows<Scalar> for_v) const override;
  double mean_gain() const override;
  double norm_bound() const override;
  Index parts() const override { return kParts<Scalar>; }
  std::unique_ptr<Linearization<Scalar>> linearize(const StackedFactors<Scalar>& Z) const override;
  /// sum_i min(k, entries of line i) - k^2 (symmetric: - k (k - 1) / 2): a line with fewer than k
  /// entries has only so many parameters that show. Entries of weight 0 do not count.
  double degrees_of_freedom(Index rank) const override;
  /// Peels off lines with fewer than `rank` entries to lines that remain: given all else, such a
  /// line has free parameters, so its entries tell nothing about its partners. What remains falls
  /// into connected blocks; entries between two blocks are open. Entries of weight 0 do not count.
  Undetermined undetermined(Index rank) const override;
  /// Lines joined by entries under stress are one group; a line alone joins the group to which it
  /// has k independent entries, because these determine it.
  std::vector<std::int32_t> rigid_groups(
      const StackedFactors<Scalar>& Z,
      const std::function<Reals<Scalar>()>& draw_stress) const override;
  /// Rows and columns of some entries.
  std::vector<std::pair<Index, Index>> places(const std::vector<Index>& entries) const;
  void visit_entries(const std::function<void(Index, Index)>& visit) const override;
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;
  /// Of real numbers only. Operators made from it are on the device, too.
  std::shared_ptr<const MeasurementOperator<Scalar>> on_device(Index columns = 1) const override;
  std::shared_ptr<const device::GradientModel<RealOf<Scalar>>> gradient_model(
      const Reals<Scalar>& b) const override;

  /// The same for entries: the type is known.
  EntriesOperator restricted(const std::vector<Index>& which) const;
  /// Entry t measured factor(t) >= 0 times as large: its weight is multiplied by factor(t)^2.
  /// Shares the pattern, O(n).
  EntriesOperator rescaled(const Reals<Scalar>& factor) const;

  SparseLines by_row() const { return pattern_->by_row.tile(0); }
  const TiledLines& by_col() const { return pattern_->by_col; }
  /// sqrt(w_t), entry by entry; nothing where all are 1.
  const Reals<Scalar>& root_weights() const { return root_; }
  /// Who computes what where several processes work together.
  const EntryShares& shares() const { return *pattern_->shares; }
  /// The entries on the device; nullptr where the work is done on the host.
  const device::EntriesOnDevice<Scalar>* device() const { return device_.get(); }
  /// Entries of each row or column, those of weight 0 left out; counted at the first call.
  const std::vector<Index>& row_sizes() const { return sizes().rows; }
  const std::vector<Index>& col_sizes() const { return sizes().cols; }
  /// Entries are numbered row by row; looked up at the first call.
  bool in_order_of_rows() const;

 private:
  struct Pattern {
    TiledLines by_row, by_col;
    std::shared_ptr<const EntryShares> shares;
    mutable std::once_flag looked;
    mutable bool in_order = false;
  };

  struct Sizes {
    std::once_flag once;
    std::vector<Index> rows, cols;
    std::vector<double> visible;  // sum over lines of min(k, entries), by k up to the longest line
  };

  EntriesOperator(Index rows, Index cols, Index entries, std::shared_ptr<const Pattern> pattern)
      : MeasurementOperator<Scalar>(rows, cols, kParts<Scalar> * entries, false),
        pattern_(std::move(pattern)) {}
  static Index tile_size(Index cols);
  bool weighted() const { return root_.size() > 0; }
  const Sizes& sizes() const;
  double visible(Index rank) const;
  Reals<Scalar> times_root(const Reals<Scalar>& z) const;
  void spread_transpose_times(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                              Rows<Scalar> out) const;
  void move_to_device(Index columns);
  void sum_lines(int side, const LineShares& lines, const Reals<Scalar>& z,
                 const ConstRows<Scalar>& other, RealOf<Scalar> weight, bool add,
                 Rows<Scalar> out) const;

  std::shared_ptr<const Pattern> pattern_;
  Reals<Scalar> root_;
  std::shared_ptr<const device::EntriesOnDevice<Scalar>> device_;
  std::shared_ptr<Sizes> sizes_ = std::make_shared<Sizes>();
};

}  // namespace udv

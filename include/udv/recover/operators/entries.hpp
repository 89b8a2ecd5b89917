// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A sparse pattern by lines, which are rows or columns. Line i holds positions first[i] to
/// first[i+1]: `other` is the index on the other side, `entry` the number of the measurement.
struct UDV_EXPORT SparseLines {
  Index count;
  const std::int32_t *first, *other, *entry;
  Index size() const { return first[count] - first[0]; }
};

/// The same pattern cut into tiles of consecutive measurements, each listed by lines: the
/// residuals of one tile stay in a near cache while its lines are visited in any order.
class UDV_EXPORT TiledLines {
 public:
  /// Line i gets the measurements t with key[t] = i, in their given order. 0: all in one tile.
  TiledLines(Index lines, const std::vector<std::int32_t>& key,
             const std::vector<std::int32_t>& other, Index tile_size = 0);
  TiledLines() = default;

  Index lines() const { return lines_; }
  Index tiles() const { return tiles_; }
  SparseLines tile(Index t) const {
    return {lines_, first_.data() + t * lines_, other_.data(), entry_.data()};
  }
  /// Measurements in line i.
  Index line_size(Index i) const;

 private:
  Index lines_ = 0, tiles_ = 0;
  std::vector<std::int32_t> first_, other_, entry_;
};

/// A(X)_t = X(row[t], col[t]). With R the sparse matrix that holds z at these places,
/// A*(z) = R, or (R + R^*) / 2 where symmetric. Entries are numbered in the order given; a complex
/// one is two numbers.
/// Every kernel owns its output lines: threads never meet and the order of sums is fixed.
template <typename Scalar>
class UDV_EXPORT EntriesOperator final : public MeasurementOperator<Scalar> {
 public:
  /// Takes the pattern of `entries`; values are ignored. Throws InvalidArgument on an index
  /// outside the matrix, on no entries and on a symmetric pattern that is not square.
  explicit EntriesOperator(const Entries& entries);

  std::string_view name() const override { return "entries"; }
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
  double norm_bound() const override { return 1.0; }
  Index parts() const override { return kParts<Scalar>; }
  std::unique_ptr<Linearization<Scalar>> linearize(const StackedFactors<Scalar>& Z) const override;
  /// sum_i min(k, entries of line i) - k^2 (symmetric: - k (k - 1) / 2): a line with fewer than k
  /// entries has only so many parameters that show.
  double degrees_of_freedom(Index rank) const override;
  /// Peels off lines with fewer than `rank` entries to lines that remain: given all else, such a
  /// line has free parameters, so its entries tell nothing about its partners. What remains falls
  /// into connected blocks; entries between two blocks are open.
  Undetermined undetermined(Index rank) const override;
  /// Lines joined by entries under stress are one group; a line alone joins the group to which it
  /// has k independent entries, because these determine it.
  std::vector<std::int32_t> rigid_groups(const StackedFactors<Scalar>& Z,
                                         const Reals<Scalar>& stress) const override;
  void visit_entries(const std::function<void(Index, Index)>& visit) const override;
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

  SparseLines by_row() const { return by_row_.tile(0); }
  const TiledLines& by_col() const { return by_col_; }

 private:
  TiledLines by_row_, by_col_;
};

}  // namespace udv

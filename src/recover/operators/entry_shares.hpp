// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/communicator.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Sums over lines or entries of large problems are taken over so many blocks of lines, and a
/// process owns whole blocks.
inline constexpr Index kLineBlocks = 64;
/// Below this number of entries there may be fewer blocks: 64 times 65,536, but for tests.
UDV_EXPORT Index many_entries();
UDV_EXPORT void set_many_entries(Index count);
inline Index lines_per_block(Index lines) {
  return (lines + kLineBlocks - 1) / kLineBlocks;
}

/// Where entries go that the owners of columns need from the owners of rows: own entries in their
/// order to the owners of their columns, which get them in the order of all entries.
class EntryRoutes {
 public:
  EntryRoutes() = default;
  /// owner[t] is the rank that gets entry t. Collective.
  explicit EntryRoutes(const std::vector<std::int16_t>& owner);

  /// Entries that come here.
  Index num_received() const { return receive_.empty() ? 0 : receive_.back(); }
  /// The values of own entries at their new owners. Collective.
  template <typename Value, typename OwnerOf>
  std::vector<Value> send(const Value* values, Index size, const OwnerOf& owner_of) const {
    std::vector<Value> packed(static_cast<size_t>(size)),
        received(static_cast<size_t>(num_received()));
    std::vector<Index> next = send_;
    for (Index t = 0; t < size; ++t)
      packed[static_cast<size_t>(next[static_cast<size_t>(owner_of(t))]++)] = values[t];
    exchange(packed.data(), received.data(), sizeof(Value));
    return received;
  }

 private:
  void exchange(const void* from, void* to, Index bytes) const;
  std::vector<Index> send_, receive_;  // bounds of ranks
};

/// What a process knows where several of them hold the entries of their own rows and columns alone.
struct EntrySpread {
  LineShares rows, cols;
  EntryRoutes routes;
  Index own = 0;                          ///< measurements of own rows
  std::vector<std::int16_t> block_owner;  ///< of blocks of columns

  std::int16_t owner_of_col(Index col, Index cols_per_block) const {
    return block_owner[static_cast<size_t>(col / cols_per_block)];
  }
};

/// Who computes which rows, columns and measurements of sampled entries where several processes
/// work together.
struct EntryShares {
  /// All of them hold all entries.
  EntryShares(const TiledLines& by_row, const TiledLines& by_col, bool symmetric);
  explicit EntryShares(EntrySpread given)
      : spread(std::make_shared<EntrySpread>(std::move(given))) {}

  /// Work in multiply-adds; no shares where it is small. Where the matrix is symmetric, a line is
  /// a row and a column of one rank.
  const LineShares& of_rows(Index work) const {
    return spread ? spread->rows : worthwhile(work) ? rows : none;
  }
  const LineShares& of_cols(Index work) const {
    return spread ? spread->cols : worthwhile(work) ? cols : none;
  }
  /// Of the measurements in the rows of a rank; none where they are not in the order of the rows.
  const LineShares& of_entries(Index work) const { return worthwhile(work) ? entries : none; }

  std::shared_ptr<const EntrySpread> spread;

 private:
  bool worthwhile(Index work) const {
    return !communicator().is_alone() && work >= communicator().smallest_work();
  }

  LineShares rows, cols, entries, none;
};

/// Fair shares of lines in whole blocks, for entries in these lines on all ranks. Collective.
LineShares spread_shares(Index lines, const std::vector<std::int32_t>& line_of_entry);

/// Entries in any order on any rank -> those of its own rows on each rank, in the order of the
/// ranks that had them. Collective.
Entries to_row_owners(const Entries& entries);

/// z by own measurements -> by the entries of own columns, as op.by_col() numbers them. Collective.
template <typename Value>
std::vector<Value> to_columns(const EntriesOperator<double>& op, const Value* z) {
  const EntrySpread& spread = *op.shares().spread;
  const SparseLines rows = op.by_row();
  const Index per_block = lines_per_block(op.cols());
  return spread.routes.send(z, spread.own,
                            [&](Index t) { return spread.owner_of_col(rows.other[t], per_block); });
}

/// R^T U with R of such numbers: each process computes its own columns, all know all of them.
/// Collective.
void own_columns_times(const EntriesOperator<double>& op, const double* of_cols,
                       const ConstRows<double>& U, Rows<double> out);

/// Throws InvalidArgument where not every process can hold so many entries, all of them: there are
/// too many to be numbered, or a machine has too little memory. Collective.
UDV_EXPORT void require_room_for_all(Index entries);
/// What to say before a solve of entries that are spread, which may turn out to need all of them in
/// each process: nothing where there is plenty of room. Collective.
UDV_EXPORT std::string room_warning(Index entries);

/// The same problem on every rank, with all entries. Collective.
EntriesOperator<double> gathered_entries(const EntriesOperator<double>& op);
/// A vector of own measurements -> all of them on every rank. Collective.
Vector<double> gathered_measurements(const EntriesOperator<double>& op, const Vector<double>& z);

}  // namespace udv

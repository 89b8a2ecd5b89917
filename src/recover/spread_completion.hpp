// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/problem.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv {

/// Whether processes that work together may each hold the entries of their own rows and columns
/// alone: many entries of a rectangular matrix, without weights, none of them held out.
UDV_EXPORT bool can_be_spread(Index num_entries, bool symmetric, bool weighted,
                              const RecoverOptions& options);

/// Entries that are on several ranks, in any order -> those of its own rows on each rank, row by
/// row. Collective.
UDV_EXPORT Entries own_rows_of(const Entries& entries);
/// Such entries of all ranks on each of them. Collective.
UDV_EXPORT Entries rows_of_all(const Entries& own);

/// The completion of entries that are on several ranks, in any order. Of an answer that was found
/// without all entries in each process, rank 0 alone gets U, V and what the posterior says of
/// entries. Collective.
UDV_EXPORT Problem spread_completion(const Entries& entries);

/// The entries of such a problem on rank 0, row by row; none on other ranks. Collective.
UDV_EXPORT Entries entries_at_root(const Problem& completion);

}  // namespace udv

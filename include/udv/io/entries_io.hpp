// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"

namespace udv::io {

enum class IndexBase { kAuto, kZero, kOne };

struct EntriesOptions {
  IndexBase base = IndexBase::kAuto;  ///< kAuto: 0 where an index 0 occurs, else 1; .mtx is 1
  bool symmetric = false;             ///< the matrix is symmetric: (i, j) and (j, i) are one entry
  Index rows = 0;                     ///< 0: from the file (triplets: the largest index)
  Index cols = 0;                     ///< 0: from the file
};

/// What was read besides the numbers: the base found and remarks for the user.
struct EntriesFile {
  Entries entries;
  int base = 0;                       ///< how the file counts, for names in later messages
  std::vector<std::string> warnings;  ///< for example ignored columns, equal duplicates
};

/// Known entries of a matrix from `.mtx` (coordinate or array; real or integer; general or
/// symmetric), `.npy` (NaN marks the unknown) or text triplets `row, column, value` (any other
/// name; separated by comma, tab, semicolon or blanks; quoted or plain; header or none; # comments;
/// .gz too). Sorted by (row, col), each place once; where symmetric, row <= col. A repeat with
/// another value, or mirror images that differ by more than 1e-12 relatively, is an error.
/// Throws IoError that names file, line or index, what was found and what was expected.
UDV_EXPORT EntriesFile read_entries_file(const std::filesystem::path& path,
                                         const EntriesOptions& options = {});

/// The same, for callers that need the numbers only.
UDV_EXPORT Entries read_entries(const std::filesystem::path& path,
                                const EntriesOptions& options = {});

/// Index pairs `row, column` (further columns are ignored), counted from `base`; each must lie
/// inside rows x cols. Same grammar as text triplets. Returned 0-based, in the file's order.
UDV_EXPORT std::vector<std::pair<Index, Index>> read_pairs(const std::filesystem::path& path,
                                                           int base, Index rows, Index cols);

}  // namespace udv::io

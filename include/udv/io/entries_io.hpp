// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/io/keys.hpp"

namespace udv::io {

enum class IndexBase { kAuto, kZero, kOne };

/// Lines of row, column, value; or one line for each row of the matrix.
enum class Layout { kAuto, kTriplets, kTable };

struct EntriesOptions {
  IndexBase base = IndexBase::kAuto;  ///< kAuto: 0 where an index 0 occurs, else 1; .mtx is 1
  bool symmetric = false;             ///< the matrix is symmetric: (i, j) and (j, i) are one entry
  Index rows = 0;                     ///< 0: from the file (triplets: the largest index)
  Index cols = 0;                     ///< 0: from the file
  Layout layout = Layout::kAuto;      ///< of text files
  /// Columns of a text file by their header or, counted from 1, their number; empty: guessed from
  /// the header, else the first three. In a table `row` is the column of the labels; in .mat, .h5
  /// and .npz files `value` is the name of the array.
  std::string row = {}, column = {}, value = {};
  std::string weight = {};  ///< column of weights, all above 0
  std::string std = {};     ///< column of standard deviations s: weights 1 / s^2
  /// Keys of another file: entries with other keys are left out and counted.
  const Keys* known_rows = nullptr;
  const Keys* known_cols = nullptr;
  bool keyed = false;  ///< whole numbers are keys, too
  /// Told now and then which share of a text file has been read.
  std::function<void(double)> progress = nullptr;
};

/// How a table stands in its file, so that another one can be written alike.
struct TableForm {
  bool is_table = false;    ///< one line for each row
  bool has_header = false;  ///< names of the columns
  bool has_labels = false;  ///< a column with names of the rows
  std::string corner = {};  ///< header of that column
  char separator = ',';
};

/// What was read besides the numbers: the base found and remarks for the user.
struct EntriesFile {
  Entries entries;
  int base = 0;                           ///< how the file counts, for names in later messages
  std::vector<std::string> warnings;      ///< for example ignored columns, equal duplicates
  std::vector<std::string> notices = {};  ///< what was guessed
  Keys row_keys = {}, col_keys = {};      ///< empty: numbers from `base`
  Index left_out = 0;                     ///< entries whose keys are not among the known ones
  TableForm form = {};
};

/// Known entries of a matrix from `.mtx` (coordinate or array; real or integer; general or
/// symmetric), an array in `.npy`, `.npz`, `.mat` or `.h5` (NaN marks the unknown), or text (any
/// other name; separated by comma, tab, semicolon or blanks; quoted or plain; header or none;
/// # comments; .gz too). Text is lines `row, column, value`, with numbers or keys of any kind, or a
/// table with blanks, NA or NaN where nothing is known. Whole numbers are indices unless they are
/// so large or so sparse that they must be keys. Sorted by (row, col), each place once; where
/// symmetric, row <= col. A repeat with another value, or mirror images that differ by more than
/// 1e-12 relatively, is an error. Throws IoError that names file, line or index, what was found and
/// what was expected.
UDV_EXPORT EntriesFile read_entries_file(const std::filesystem::path& path,
                                         const EntriesOptions& options = {});

/// The same, for callers that need the numbers only.
UDV_EXPORT Entries read_entries(const std::filesystem::path& path,
                                const EntriesOptions& options = {});

/// Headers of the columns of pairs. Where the file has none of these, its header decides, as for
/// triplets; else they are the first two.
struct PairColumns {
  std::string row = {}, column = {};
};

/// Index pairs `row, column` (further columns are ignored), counted from `base`; each must lie
/// inside rows x cols. Same grammar as text triplets. Returned 0-based, in the file's order.
UDV_EXPORT std::vector<std::pair<Index, Index>> read_pairs(const std::filesystem::path& path,
                                                           int base, Index rows, Index cols,
                                                           const PairColumns& columns = {});

/// The same by keys, where there are any.
struct PairsFile {
  std::vector<std::pair<Index, Index>> pairs;
  std::vector<std::string> warnings;  ///< pairs with keys that nobody knows are left out
};
UDV_EXPORT PairsFile read_pairs(const std::filesystem::path& path, const Keys& rows,
                                const Keys& cols, const PairColumns& columns = {});

/// "7", "8", ... as keys: those of a matrix that is counted from `base`.
UDV_EXPORT Keys number_keys(Index count, int base);

/// One key in each line (further columns are ignored; a header is none of the keys); their numbers
/// in the order of the file. Throws IoError that names the line of an unknown key.
UDV_EXPORT std::vector<Index> read_lines_of(const std::filesystem::path& path, const Keys& keys);

}  // namespace udv::io

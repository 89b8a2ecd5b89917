// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io::detail {

/// Where row, column, value and weight of an entry stand in a line, counted from 0.
struct TripletColumns {
  std::size_t row = 0, col = 1, value = 2;
  std::optional<std::size_t> weight;
  bool weight_is_std = false;
  bool guessed = false;  ///< by names of the header

  std::vector<std::size_t> used() const;
  /// "rows from 'user', columns from 'item', values from 'rating'".
  std::string text(const Table& table) const;
};

/// The header has a name for rows and one for columns that leave no doubt: user and item, i and j.
bool names_triplets(const std::vector<std::string_view>& header);

/// As the options say, else by the header, else the first three. Throws IoError naming file and
/// line where a column is not there, is taken twice, or the header names no value.
TripletColumns choose_columns(const Table& table, const EntriesOptions& options);

/// Row and column of pairs, counted from 0.
std::pair<std::size_t, std::size_t> choose_pair_columns(const Table& table,
                                                        const PairColumns& wanted);

/// The column that a name of the header or a number from 1 means. Throws IoError.
std::size_t find_column(const LineReader& line, const std::vector<std::string_view>& header,
                        std::size_t width, const std::string& wanted);

/// The weight that the current line gives. Throws IoError unless it is above 0.
double parse_weight(const Table& table, const TripletColumns& columns);

}  // namespace udv::io::detail

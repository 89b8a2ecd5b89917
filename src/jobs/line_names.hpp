// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/io/keys.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// What rows and columns are called in messages and files: by their keys, or by numbers from a
/// base.
struct LineNames {
  const io::Keys& rows;
  const io::Keys& cols;
  int base = 0;

  /// For a file.
  std::string row(Index i, char separator = ',') const { return field(rows, i, separator); }
  std::string col(Index j, char separator = ',') const { return field(cols, j, separator); }
  /// For a message: 'Toy Story (1995)', or 7.
  std::string row_text(Index i) const { return text(rows, i); }
  std::string col_text(Index j) const { return text(cols, j); }

 private:
  std::string field(const io::Keys& keys, Index index, char separator) const;
  std::string text(const io::Keys& keys, Index index) const;
};

/// rows.csv and columns.csv, where there are keys and a folder.
void write_keys(Run& run, const LineNames& names);

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobs/line_names.hpp"
#include "udv/jobs/complete.hpp"
#include "udv/recover/recover.hpp"

namespace udv::jobs {

/// What a completion has read, with the names that messages use.
struct CompleteTask {
  CompleteInput names;
  CompleteData data;
  TableOutput output;
  std::vector<Index> rows;  ///< that recommendations are for; empty: all
  std::vector<std::string> warnings, notices;
  std::vector<std::string> inputs;  ///< files of the entries, in full
  std::shared_ptr<const EarlierAnswer> earlier;
  bool spread = false;  ///< each of several processes has the entries of its own rows alone
  /// Entries of each line, where rank 0 gets no entries back from the others.
  std::vector<Index> row_entries, col_entries;

  std::string name() const { return names.file.empty() ? "entries" : names.file; }
  /// Files are made of the entries, not of the answer alone.
  bool needs_entries() const {
    return data.test.size() > 0 || !data.pairs.empty() || !output.fill.empty() ||
           output.recommend > 0;
  }
  LineNames line_names() const { return {data.row_keys, data.col_keys, data.index_base}; }
};

/// Reads the known entries; a large text file with a progress bar. Throws IoError naming file and
/// place.
CompleteTask read_task(const CompleteInput& input, const CompleteOptions& options,
                       Session& session);
/// Reads the files that go with them: test entries, pairs, rows.
void read_companions(const CompleteOptions& options, CompleteTask& task);

/// The rows that a file lists by their keys or numbers.
std::vector<Index> read_rows(const std::string& path, const CompleteData& data);

/// Throws InvalidArgument where data in memory have another number of keys than of lines.
void check_keys(const CompleteData& data);

/// Keys, or the numbers of rows and columns in their place.
io::Keys keys_or_numbers(const io::Keys& keys, Index count, int base);

}  // namespace udv::jobs

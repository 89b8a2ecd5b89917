// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::io::detail {

/// One entry as it stands in a file, with 0-based indices.
struct Record {
  std::int32_t row = 0;
  std::int32_t col = 0;
  double value = 0;
  std::uint64_t line : 63 = 0;
  std::uint64_t mirrored : 1 = 0;  ///< row and col were swapped so that row <= col
};

/// What a reader knows of the whole matrix before its entries are put in order.
struct MatrixFrame {
  std::string name;  ///< the file's, for messages
  int base = 0;      ///< how messages count
  Index rows = 0;
  Index cols = 0;
  bool symmetric = false;
  const Keys* row_keys = nullptr;  ///< names for messages, where there are any
  const Keys* col_keys = nullptr;
};

/// "(3, 4)" as the file counts.
std::string position_text(int base, Index row, Index col);

/// Throws InvalidArgument where sizes are negative or a symmetric matrix is not square.
void validate(const EntriesOptions& options);

/// Throws IoError unless the file's sizes are positive, fit 32-bit indices, equal those asked
/// for, and are equal to each other where symmetry is asked for. `position` starts the message.
/// Throws IoError where there are more lines than entries can be numbered.
void require_number_of_entries(const std::string& name, std::size_t lines);

/// Reports the progress of a reader every 2^18 lines.
class ReadingProgress {
 public:
  ReadingProgress(const EntriesOptions& options, std::size_t bytes)
      : report_(options.progress), bytes_(static_cast<double>(bytes)) {}
  void count(const LineReader& line) {
    if ((++lines_ & 0x3ffff) == 0 && report_)
      report_(1 - static_cast<double>(line.bytes_left()) / bytes_);
  }

 private:
  const std::function<void(double)>& report_;
  double bytes_;
  std::size_t lines_ = 0;
};

void require_sizes(const std::string& position, Index rows, Index cols,
                   const EntriesOptions& options);

/// |a - b| <= 1e-12 max(|a|, |b|): mirror images may differ by rounding.
bool equal_mirror_images(double a, double b);

/// Sorts by (row, col), keeps repeats with one value once (and warns), refuses repeats with
/// different values. Where the frame is symmetric, (i, j) and (j, i) are one entry, stored with
/// row <= col. O(n log n); already sorted records cost O(n).
/// `weights`, where there are any, by line of the file.
EntriesFile assemble(const MatrixFrame& frame, std::vector<Record> records,
                     const std::vector<double>& weights = {});

/// Lists every entry of a symmetric matrix at both of its places.
Entries expand_symmetric(const Entries& entries);

// The readers behind read_entries_file, one per format.
EntriesFile read_text_entries(const std::string& name, std::string text,
                              const EntriesOptions& options);
EntriesFile read_triplets(const std::string& name, std::string text, const EntriesOptions& options);
EntriesFile read_table(const std::string& name, std::string_view text,
                       const EntriesOptions& options);
EntriesFile read_matrix_market(const std::string& name, std::string_view text,
                               const EntriesOptions& options);
EntriesFile read_dense(const std::filesystem::path& path, const EntriesOptions& options);
/// The array of an .npz, .mat or HDF5 file: the one called options.value, or the only matrix.
EntriesFile read_dense_variable(const std::filesystem::path& path, const EntriesOptions& options);

/// Does the text start with %%MatrixMarket, in any case?
bool has_matrix_market_banner(std::string_view text);

/// Entries of a dense matrix in row-major order; NaN marks the unknown. Throws IoError where none
/// is known, one is infinite, or mirror images differ although the frame is symmetric.
EntriesFile dense_entries(const MatrixFrame& frame, const std::vector<double>& values);

}  // namespace udv::io::detail

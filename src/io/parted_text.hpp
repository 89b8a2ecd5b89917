// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace udv::io::detail {

/// A plain text file, or several as one: "part-*.csv" stands for part-0.csv, part-1.csv, ... in the
/// order of their numbers. A header that all parts repeat counts once.
class PartedText {
 public:
  /// Throws IoError where there is no part, a number is missing or there twice, or two parts are
  /// the same.
  explicit PartedText(const std::filesystem::path& path);

  /// The name has a * and is not that of a file.
  static bool is_pattern(const std::filesystem::path& path);

  /// "part-*.csv: parts 0 to 7": whether the first or the last one is missing nobody can tell.
  /// Empty for a file by itself.
  const std::string& notice() const { return notice_; }
  std::int64_t size() const { return starts_.back(); }  ///< bytes
  /// The lines that begin in the bytes `begin` to `end`, less repeated headers.
  std::string lines(std::int64_t begin, std::int64_t end) const;
  std::string all() const { return lines(0, size()); }
  /// The first bytes.
  std::string head(std::size_t count) const;
  /// Of 1,024 pieces of 4 KiB, evenly spread; of everything where there is less.
  std::uint64_t sampled_checksum() const;

 private:
  void check_different() const;

  std::string name_, notice_;
  std::vector<std::filesystem::path> parts_;
  std::vector<std::int64_t> starts_{0};  // bytes before each part, and in all
  std::string header_;                   // with its end of line; empty: none is repeated
};

}  // namespace udv::io::detail

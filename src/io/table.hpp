// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace udv::io::detail {

/// A delimited text table of keys and numbers. The separator is the one that follows the first
/// field of the first data line; a first line without any number in the leading columns is a
/// header; every line must have as many fields as the first.
class Table {
 public:
  /// `columns` names the leading columns, for messages. Throws IoError where there is no line.
  Table(std::string name, std::string_view text, std::vector<std::string_view> columns);

  bool next();       ///< moves to the next data line and splits it; false at the end
  bool next_line();  ///< the same without split(): field() is not to be used
  void split();      ///< throws IoError where the line has another number of fields

  const LineReader& line() const { return lines_; }
  std::string_view field(std::size_t k) const { return fields_[k]; }

  const std::vector<std::string_view>& header() const { return header_; }  ///< empty: there is none
  std::size_t width() const { return width_; }
  char separator() const { return separator_; }

  /// "2 columns ignored: 'time', 'note'" where there are more columns than the used ones.
  std::string ignored_columns(const std::vector<std::size_t>& used) const;

  /// Throws IoError: nothing but a header was found.
  [[noreturn]] void fail_without_data() const;

 private:
  bool is_header() const;
  std::string leading_columns() const;

  LineReader lines_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  std::vector<std::string_view> header_;
  char separator_ = ' ';
  std::size_t width_ = 0;
  bool first_line_is_data_ = false;
};

}  // namespace udv::io::detail

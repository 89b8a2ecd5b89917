// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// A delimited text file with a header line, as it stands: every field is text.
class UDV_EXPORT TextTable {
 public:
  /// Comma, semicolon or tab, whichever follows the first name of the header; .gz too. A file that
  /// is no UTF-8 is taken for Latin-1 and turned into UTF-8. Throws IoError naming path and line:
  /// no data, a line with another number of fields, two columns of one name.
  explicit TextTable(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& columns() const { return columns_; }
  Index rows() const { return static_cast<Index>(lines_.size()); }
  char separator() const { return separator_; }  ///< between two fields

  /// -1 where there is none.
  Index find(std::string_view column) const;
  std::string_view field(Index row, Index column) const {
    return fields_[static_cast<size_t>(row) * columns_.size() + static_cast<size_t>(column)];
  }
  /// "file:line: column 'name'", the start of a message about a field.
  std::string where(Index row, Index column) const;

 private:
  std::string name_;
  char separator_ = ',';
  std::shared_ptr<const std::string> text_;  // the fields are views of it
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;  // row by row
  std::vector<std::int64_t> lines_;
};

/// A number that stands alone in a field, inf and nan too.
UDV_EXPORT bool is_number(std::string_view field);
/// The same, but finite ones alone. False where it is none.
UDV_EXPORT bool parse_number(std::string_view field, double& value);

/// A field as messages show it: in quotes, on one line, shortened.
UDV_EXPORT std::string quoted(std::string_view field);

}  // namespace udv::io

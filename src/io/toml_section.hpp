// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/toml.hpp"
#include "udv/core/types.hpp"

namespace udv::io::detail {

/// A number of a settings file, or the name of the variable of the data file that holds it.
struct Quantity {
  std::string where;     ///< "file:line: [section] key", the start of a message about it
  double value = 0;      ///< in the unit of the key; counts where `variable` is empty
  std::string variable;  ///< read from the data file
  double scale = 1;      ///< times the variable is the value in the unit of the key
};

/// One table of a settings file, read strictly: what is not there, has the wrong type or is not
/// known throws IoError "file:line: [section] key: FOUND found, EXPECTED expected".
class TomlSection {
 public:
  static constexpr Index kNoLimit = std::numeric_limits<Index>::max();

  /// The keys are all that may stand in it.
  TomlSection(std::string path, std::string name, const toml::table& table,
              std::vector<std::string_view> keys);

  bool has(std::string_view key) const { return table_->contains(key); }
  void require_key(std::string_view key) const;

  /// "file:line: [section] key"; the section alone where the key is empty.
  std::string where(std::string_view key) const;
  /// Throws IoError: the value of the key found, something else expected.
  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const;

  // Nothing where the key is not there.
  std::optional<std::string> text(std::string_view key, std::string_view expected) const;
  std::optional<Index> whole(std::string_view key, Index smallest, Index largest = kNoLimit) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<Quantity> quantity(std::string_view key) const;
  /// The name in { variable = "name" }.
  std::optional<std::string> variable(std::string_view key) const;
  /// A whole number or a list of them; empty where the key is not there.
  std::vector<Index> wholes(std::string_view key, Index smallest) const;
  /// A list of lists [x, y] of numbers.
  std::vector<std::pair<double, double>> pairs(std::string_view key) const;
  /// A value or a list of values as text; empty where the key is not there.
  std::vector<std::string> texts(std::string_view key) const;
  bool is_table(std::string_view key) const;
  /// Every key of the table `key` with its value or values as text.
  std::map<std::string, std::vector<std::string>> lists(std::string_view key) const;
  /// The tables [[key]], which may be none.
  std::vector<TomlSection> sections(std::string_view key, std::vector<std::string_view> keys) const;
  std::optional<TomlSection> section(std::string_view key,
                                     std::vector<std::string_view> keys) const;

 private:
  std::string path_;
  std::string name_;
  const toml::table* table_;
};

/// The text of a value as a message shows it: at most 40 characters of one line.
std::string found_text(const toml::node& node);

}  // namespace udv::io::detail

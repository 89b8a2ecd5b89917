// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// What the rows or the columns of a matrix are called in the user's file: one text for each,
/// numbered from 0. Empty where the file counts instead. All texts share one buffer.
class UDV_EXPORT Keys {
 public:
  Keys() = default;
  explicit Keys(const std::vector<std::string>& names);

  bool empty() const { return ends_.empty(); }
  Index size() const { return static_cast<Index>(ends_.size()); }
  std::string_view operator[](Index index) const;

  /// -1 where there is no such key. O(length of the key).
  Index find(std::string_view key) const;
  /// The number of the key, which is added where it is new.
  Index add(std::string_view key);
  /// Key k becomes number places[k].
  void reorder(const std::vector<std::int32_t>& places);

  bool operator==(const Keys& other) const { return text_ == other.text_ && ends_ == other.ends_; }

 private:
  std::size_t slot_of(std::string_view key, std::uint64_t hash) const;
  void grow();

  std::string text_;
  std::vector<std::uint64_t> ends_;   // of key k in text_
  std::vector<std::uint64_t> slots_;  // open addressing: half the hash of key k, and k + 1; or 0
};

/// A field of a CSV file: in quotes where it has to be.
UDV_EXPORT std::string csv_field(std::string_view text, char separator = ',');

/// A text table index,key.
UDV_EXPORT std::string keys_csv(const Keys& keys);
/// Reads what keys_csv wrote. Throws IoError naming path and line.
UDV_EXPORT Keys read_keys(const std::filesystem::path& path);

}  // namespace udv::io

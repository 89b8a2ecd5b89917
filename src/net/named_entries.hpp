// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "core/require.hpp"

namespace udv::net {

/// Tables of things that are known by their name: every entry has a member `name`.

/// "adam, nadam, ..."
template <typename Table>
std::string names_of(const Table& table) {
  std::string text;
  for (const auto& entry : table) text += message(text.empty() ? "" : ", ", entry.name);
  return text;
}

/// Throws InvalidArgument "WHAT 'name' found, one of ... expected".
template <typename Table>
const auto& entry_named(const char* what, const Table& table, std::string_view name) {
  for (const auto& entry : table)
    if (entry.name == name) return entry;
  throw InvalidArgument(
      message(what, " '", name, "' found, one of ", names_of(table), " expected"));
}

}  // namespace udv::net

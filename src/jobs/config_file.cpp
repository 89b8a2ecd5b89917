// SPDX-License-Identifier: MIT
#include "jobs/config_file.hpp"

#include <sstream>

#include "core/require.hpp"
#include "io/toml_file.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

std::string scalar_text(const toml::node& node, const std::string& where) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
  if (const auto real = node.value_exact<double>()) {
    std::ostringstream text;
    text.precision(17);
    text << *real;
    return text.str();
  }
  throw IoError(
      message(where, ": a ", node.type(), " found, text, a number, true or false expected"));
}

std::string value_text(const toml::node& node, const std::string& where) {
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  const auto* const list = node.as_array();
  if (list == nullptr) return scalar_text(node, where);
  require<IoError>(!list->empty(), where, ": an empty list found, values expected");
  std::string joined;
  for (const auto& item : *list) {
    if (!joined.empty()) joined += ',';
    joined += scalar_text(item, where);
  }
  return list->size() == 1 ? joined + ',' : joined;  // still a list, not a single value
}

}  // namespace

std::vector<ConfigEntry> config_entries(const std::string& path) {
  const std::string text = io::read_bytes(path);
  std::vector<ConfigEntry> entries;
  const toml::table table = io::detail::parse_toml(path, text);
  for (const auto& [key, node] : table) {
    const std::string where = message(path, ":", node.source().begin.line);
    const std::string name(key.str());
    entries.push_back({name, value_text(node, where + ": " + name), where});
  }
  return entries;
}

void apply_config(const std::string& path, OptionTable& table) {
  for (const ConfigEntry& entry : config_entries(path)) {
    try {
      table.set(entry.name, entry.text);
    } catch (const OptionError& error) {
      throw IoError(message(entry.where, ": ", error.what()));
    }
  }
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include "io/toml_section.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv::io::detail {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += message(text.empty() ? "" : ", ", word);
  return text;
}

std::optional<Index> whole_of(const toml::node& node, Index smallest, Index largest) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < smallest || *value > largest) return std::nullopt;
  return static_cast<Index>(*value);
}

/// Whole numbers count as numbers; infinities and nan do not.
std::optional<double> finite_number(const toml::node& node) {
  if (!node.is_number()) return std::nullopt;
  const auto value = node.value<double>();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::pair<double, double>> pair_of(const toml::node& node) {
  const toml::array* list = node.as_array();
  if (!list || list->size() != 2) return std::nullopt;
  const auto x = finite_number(*list->get(0)), y = finite_number(*list->get(1));
  if (!x || !y) return std::nullopt;
  return std::pair(*x, *y);
}

constexpr size_t kLongest = 40;  // characters of a value in a message

// The value in one line, as much of it as a message shows. (toml++ itself counts the characters of
// lists beforehand, by converting logarithms that are negative to unsigned numbers.)
void append(const toml::node& node, std::string& text) {
  if (text.size() > kLongest) return;
  const char* between = "";
  if (const toml::array* const list = node.as_array()) {
    text += "[";
    for (const toml::node& item : *list) {
      if (text.size() > kLongest) break;
      text += std::exchange(between, ",") + std::string(" ");
      append(item, text);
    }
    text += list->empty() ? "]" : " ]";
  } else if (const toml::table* const table = node.as_table()) {
    text += "{";
    for (const auto& [key, value] : *table) {
      if (text.size() > kLongest) break;
      text += std::exchange(between, ",") + message(" ", key.str(), " = ");
      append(value, text);
    }
    text += table->empty() ? "}" : " }";
  } else {
    std::ostringstream out;
    node.visit([&](const auto& value) { out << value; });
    text += out.str();
  }
}

}  // namespace

std::string found_text(const toml::node& node) {
  std::string text;
  append(node, text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

TomlSection::TomlSection(std::string path, std::string name, const toml::table& table,
                         std::vector<std::string_view> keys)
    : path_(std::move(path)), name_(std::move(name)), table_(&table) {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const auto& [key, node] : table)
    require<IoError>(std::find(keys.begin(), keys.end(), key.str()) != keys.end(), where(key.str()),
                     ": unknown key found, one of ", joined(keys), " expected",
                     did_you_mean(key.str(), known));
}

std::string TomlSection::where(std::string_view key) const {
  const toml::node* node = table_->get(key);
  const toml::source_region& source = node ? node->source() : table_->source();
  const std::string section = name_.empty() ? "" : message("[", name_, "]");
  const char* space = name_.empty() || key.empty() ? "" : " ";
  return message(path_, ":", source.begin.line, ": ", section, space, key);
}

void TomlSection::require_key(std::string_view key) const {
  require<IoError>(has(key), where(key), ": no such key found, it is required");
}

void TomlSection::refuse(std::string_view key, std::string_view expected) const {
  const toml::node* node = table_->get(key);
  throw IoError(message(where(key), ": ", node ? found_text(*node) : "nothing", " found, ",
                        expected, " expected"));
}

std::optional<std::string> TomlSection::text(std::string_view key,
                                             std::string_view expected) const {
  if (!has(key)) return std::nullopt;
  const auto value = table_->get(key)->value_exact<std::string>();
  if (!value || value->empty()) refuse(key, expected);
  return value;
}

std::optional<Index> TomlSection::whole(std::string_view key, Index smallest, Index largest) const {
  if (!has(key)) return std::nullopt;
  const auto value = whole_of(*table_->get(key), smallest, largest);
  const std::string end = largest == kNoLimit ? "" : message(" to ", largest);
  if (!value) refuse(key, message("a whole number from ", smallest, end));
  return value;
}

std::optional<double> TomlSection::number(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  const auto value = finite_number(*table_->get(key));
  if (!value) refuse(key, "a number");
  return value;
}

std::optional<Quantity> TomlSection::quantity(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  Quantity result;
  result.where = where(key);
  if (const auto value = finite_number(*table_->get(key))) {
    result.value = *value;
    return result;
  }
  if (!table_->get(key)->is_table()) refuse(key, "a number or { variable = \"name\" }");
  const TomlSection source = *section(key, {"variable", "scale"});
  source.require_key("variable");
  result.variable = *source.text("variable", "a variable's name");
  result.scale = source.number("scale").value_or(1);
  if (result.scale == 0) source.refuse("scale", "a number other than 0");
  return result;
}

std::optional<std::string> TomlSection::variable(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  if (!table_->get(key)->is_table()) refuse(key, "{ variable = \"name\" }");
  const TomlSection source = *section(key, {"variable"});
  source.require_key("variable");
  return source.text("variable", "a variable's name");
}

std::vector<Index> TomlSection::wholes(std::string_view key, Index smallest) const {
  if (!has(key)) return {};
  const toml::node& node = *table_->get(key);
  std::vector<std::optional<Index>> values;
  if (const toml::array* list = node.as_array())
    for (const toml::node& item : *list) values.push_back(whole_of(item, smallest, kNoLimit));
  else
    values.push_back(whole_of(node, smallest, kNoLimit));
  std::vector<Index> found;
  for (const auto& value : values) {
    if (!value) refuse(key, message("a whole number from ", smallest, " or a list of them"));
    found.push_back(*value);
  }
  return found;
}

std::vector<std::pair<double, double>> TomlSection::pairs(std::string_view key) const {
  std::vector<std::pair<double, double>> values;
  const std::string_view expected = "a list of pairs [x, y] of numbers";
  const toml::array* list = has(key) ? table_->get(key)->as_array() : nullptr;
  if (!list || list->empty()) refuse(key, expected);
  for (const toml::node& item : *list) {
    const auto value = pair_of(item);
    if (!value) refuse(key, expected);
    values.push_back(*value);
  }
  return values;
}

std::optional<TomlSection> TomlSection::section(std::string_view key,
                                                std::vector<std::string_view> keys) const {
  if (!has(key)) return std::nullopt;
  const toml::table* table = table_->get(key)->as_table();
  if (!table) refuse(key, message("a table of ", joined(keys)));
  return TomlSection(path_, name_.empty() ? std::string(key) : message(name_, ".", key), *table,
                     std::move(keys));
}

std::vector<std::string> TomlSection::texts(std::string_view key) const {
  std::vector<std::string> found;
  const toml::node* node = table_->get(key);
  if (!node) return found;
  const auto add = [&](const toml::node& value) {
    if (const auto text = value.value_exact<std::string>())
      found.push_back(*text);
    else if (value.is_number())
      found.push_back(found_text(value));
    else
      refuse(key, "text, a number or a list of such");
  };
  if (const toml::array* list = node->as_array())
    for (const toml::node& value : *list) add(value);
  else
    add(*node);
  return found;
}

bool TomlSection::is_table(std::string_view key) const {
  const toml::node* node = table_->get(key);
  return node && node->is_table();
}

std::map<std::string, std::vector<std::string>> TomlSection::lists(std::string_view key) const {
  std::map<std::string, std::vector<std::string>> found;
  const toml::node* node = table_->get(key);
  if (!node) return found;
  if (!node->is_table()) refuse(key, "a table");
  std::vector<std::string_view> names;
  for (const auto& [name, value] : *node->as_table()) names.push_back(name.str());
  const TomlSection inside(path_, std::string(key), *node->as_table(), names);
  for (const std::string_view name : names) found[std::string(name)] = inside.texts(name);
  return found;
}

std::vector<TomlSection> TomlSection::sections(std::string_view key,
                                               std::vector<std::string_view> keys) const {
  std::vector<TomlSection> found;
  const toml::node* node = table_->get(key);
  if (!node) return found;
  const toml::array* list = node->as_array();
  if (!list) refuse(key, "a list of tables");
  for (const toml::node& item : *list) {
    if (!item.is_table()) refuse(key, "a list of tables");
    found.emplace_back(path_, std::string(key), *item.as_table(), keys);
  }
  return found;
}

}  // namespace udv::io::detail

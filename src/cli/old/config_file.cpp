// SPDX-License-Identifier: MIT
#include "cli/config_file.hpp"

#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::cli {
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

// --key=value; values joined by commas for a list. Always one word: a key without a value would
// take the next argument for it.
void append_flag(const std::string& path, std::string_view key, const toml::node& node,
                 std::vector<std::string>& flags) {
  const std::string where = message(path, ":", node.source().begin.line, ": ", key);
  const std::string flag = message("--", key);
  if (const auto truth = node.value_exact<bool>()) {
    flags.push_back(message(flag, "=", *truth ? "true" : "false"));
  } else if (const auto* list = node.as_array()) {
    require<IoError>(!list->empty(), where, ": an empty list found, values expected");
    std::string joined;
    for (const auto& item : *list) {
      if (!joined.empty()) joined += ',';
      joined += scalar_text(item, where);
    }
    if (list->size() == 1) joined += ',';  // still a list, not a single value
    flags.push_back(message(flag, "=", joined));
  } else {
    flags.push_back(message(flag, "=", scalar_text(node, where)));
  }
}

}  // namespace

std::vector<std::string> config_flags(const std::string& path) {
  const std::string text = io::read_bytes(path);
  std::vector<std::string> flags;
  try {
    const toml::table table = toml::parse(text, path);
    for (const auto& [key, node] : table) append_flag(path, key.str(), node, flags);
  } catch (const toml::parse_error& error) {
    throw IoError(message(path, ":", error.source().begin.line, ": ", error.description()));
  }
  return flags;
}

std::vector<std::string> expand_config(const std::vector<std::string>& arguments) {
  const std::string name = "--config";
  std::vector<std::string> rest, flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string path;
    if (arguments[i] == name && i + 1 < arguments.size())
      path = arguments[++i];
    else if (arguments[i].rfind(name + "=", 0) == 0)
      path = arguments[i].substr(name.size() + 1);
    else
      rest.push_back(arguments[i]);
    if (!path.empty()) {
      const auto more = config_flags(path);
      flags.insert(flags.end(), more.begin(), more.end());
    }
  }
  // After the command's name, before everything else.
  rest.insert(rest.begin() + (rest.empty() ? 0 : 1), flags.begin(), flags.end());
  return rest;
}

}  // namespace udv::cli

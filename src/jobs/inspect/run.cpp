// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "io/json_file.hpp"
#include "jobs/config_file.hpp"
#include "jobs/inspect/kinds.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using Json = io::detail::OrderedJson;
using io::detail::read_json;

// Deep values are only counted: files of others may be nested without end.
std::string value_text(const Json& value) {
  if (value.is_string()) return plain_text(value.get_ref<const std::string&>());
  if (value.is_array()) return fmt::format("{} items", value.size());
  if (value.is_object()) return fmt::format("{} entries", value.size());
  return value.is_number_float() ? fmt::format("{:.6g}", value.get<double>()) : value.dump();
}

// Short lists of plain values as they stand.
std::string list_text(const Json& list) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (const Json& item : list) {
    if (list.size() > kMost || item.is_structured()) return fmt::format("{} items", list.size());
    text += (text.empty() ? "" : ", ") + value_text(item);
  }
  return text.empty() ? "none" : text;
}

std::string entries_text(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items())
    text += (text.empty() ? "" : ", ") + plain_text(key, 60) + " " +
            (value.is_array() ? list_text(value) : value_text(value));
  return text;
}

bool is_spectrum(const std::string& key, const Json& value) {
  return key == "spectrum" && value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_number(); });
}

void add_json(const std::string& key, const Json& value, InspectReport& report) {
  const std::string name = plain_text(key, 60);
  if (is_spectrum(key, value)) {
    const auto values = value.get<std::vector<double>>();
    add_spectrum(Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size())),
                 report);
  } else if (key == "warnings" && value.is_array()) {
    for (const Json& warning : value) report.fact("warning", value_text(warning));
  } else {
    report.fact(name, value.is_object()  ? entries_text(value)
                      : value.is_array() ? list_text(value)
                                         : value_text(value));
  }
}

}  // namespace

std::string brief_json(const std::filesystem::path& file) {
  const Json run = read_json(file);
  return run.contains("command") ? "run of udv " + value_text(run["command"])
                                 : fmt::format("{} entries", run.size());
}

void show_json(const std::filesystem::path& file, const InspectOptions&, InspectReport& report) {
  const Json run = read_json(file);
  add_file(file, report);
  for (const auto& [key, value] : run.items()) {
    if (key == "udv")
      report.fact("written by", "udv " + value_text(value));
    else
      add_json(key, value, report);
  }
}

std::string brief_settings(const Path& file) {
  return fmt::format("{} settings", config_entries(file.string()).size());
}

void show_settings(const Path& file, const InspectOptions&, InspectReport& report) {
  const std::vector<ConfigEntry> entries = config_entries(file.string());
  add_file(file, report);
  for (const ConfigEntry& entry : entries)
    report.fact(plain_text(entry.name), plain_text(entry.text));
}

}  // namespace udv::jobs

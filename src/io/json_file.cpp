// SPDX-License-Identifier: MIT
#include "json_file.hpp"

#include <cmath>

#include "core/require.hpp"
#include "udv/io/file.hpp"

namespace udv::io::detail {
namespace {

OrderedJson setting_json(const Setting& setting) {
  if (const double* value = std::get_if<double>(&setting)) return number(*value);
  return std::visit([](const auto& value) { return OrderedJson(value); }, setting);
}

}  // namespace

OrderedJson number(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

OrderedJson list(const Vector<double>& values) {
  OrderedJson result = OrderedJson::array();
  for (const double value : values) result.push_back(number(value));
  return result;
}

OrderedJson config_json(const std::map<std::string, Setting>& config) {
  OrderedJson result = OrderedJson::object();
  for (const auto& [name, setting] : config) result[name] = setting_json(setting);
  return result;
}

void add_figures(const RunInfo& info, OrderedJson& run) {
  for (const auto& [name, figure] : info.figures) run[name] = setting_json(figure);
  for (const auto& [name, items] : info.lists) {
    run[name] = OrderedJson::array();
    for (const Setting& item : items) run[name].push_back(setting_json(item));
  }
}

OrderedJson read_json(const std::filesystem::path& path) {
  try {
    OrderedJson json = OrderedJson::parse(read_bytes(path));
    require<IoError>(json.is_object(), path.string(), ": ", json.type_name(),
                     " found, a JSON object expected");
    return json;
  } catch (const OrderedJson::parse_error& error) {
    throw IoError(message(path.string(), ": no JSON at byte ", error.byte));
  } catch (const OrderedJson::out_of_range&) {
    throw IoError(message(path.string(), ": a number beyond double precision found"));
  }
}

std::string problem_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t end = text.find("] ");
  return text.starts_with("[json.exception.") && end != text.npos ? text.substr(end + 2) : text;
}

std::string json_text(const OrderedJson& json) {
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

void write_json(const std::filesystem::path& path, const OrderedJson& json) {
  write_atomically(path, json_text(json));
}

}  // namespace udv::io::detail

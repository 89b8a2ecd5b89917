// SPDX-License-Identifier: MIT
#include "blocks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "thinning.hpp"
#include "udv/io/file.hpp"
#include "udv/io/png.hpp"

namespace udv::report {
namespace {

Json axis_json(const Axis& axis) {
  Json json = {{"title", axis.title}, {"scale", axis.log ? "log" : "linear"}};
  if (axis.whole) json["whole"] = true;
  return json;
}

Json series_json(const Series& series, std::size_t buckets, bool log_x) {
  Json points = Json::array();
  for (const std::size_t i : thinned(series.x, series.y, buckets, log_x))
    points.push_back({chart_number(series.x[i]), chart_number(series.y[i])});
  Json json = {{"name", series.name}};
  if (series.dash) json["dash"] = true;
  if (series.step) json["step"] = true;
  if (!series.line) json["line"] = false;
  if (series.color >= 0) json["color"] = series.color;
  if (!series.panel.empty()) json["panel"] = series.panel;
  json["points"] = std::move(points);
  return json;
}

std::string base64(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

Json chart_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::round(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.5e}", value).c_str(), nullptr);
}

Json lines_block(const std::string& title, const Axis& x, const Axis& y,
                 const std::vector<Series>& series, const std::vector<Rule>& rules,
                 std::size_t buckets) {
  Json block = {{"kind", "lines"}, {"title", title}, {"x", axis_json(x)}, {"y", axis_json(y)}};
  block["series"] = Json::array();
  for (const Series& one : series) block["series"].push_back(series_json(one, buckets, x.log));
  for (const Rule& rule : rules) block["rules"].push_back({{"y", rule.y}, {"text", rule.text}});
  return block;
}

Json table_block(const std::string& title, const std::vector<std::string>& columns,
                 std::vector<Json> rows) {
  return {{"kind", "table"}, {"title", title}, {"columns", columns}, {"rows", std::move(rows)}};
}

Json facts_block(const std::string& title,
                 const std::vector<std::pair<std::string, std::string>>& items) {
  Json list = Json::array();
  for (const auto& [name, text] : items) list.push_back(Json::array({name, text}));
  return {{"kind", "facts"}, {"title", title}, {"items", std::move(list)}};
}

Json bars_block(const std::string& title, const std::string& x_title,
                const std::vector<double>& times, const std::vector<BarsPanel>& panels) {
  Json block = {{"kind", "bars"},
                {"title", title},
                {"x_title", x_title},
                {"time_title", "iteration"},
                {"times", times}};
  for (const BarsPanel& panel : panels) {
    Json values = Json::array();
    for (const auto& at : panel.values) {
      Json row = Json::array();
      for (const double value : at)
        row.push_back(std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr));
      values.push_back(std::move(row));
    }
    block["panels"].push_back(
        {{"title", panel.title}, {"scale", "linear"}, {"values", std::move(values)}});
  }
  return block;
}

Json picture(const std::string& caption, const std::filesystem::path& png) {
  constexpr Index kFewPixels = 64;
  return {{"caption", caption},
          {"src", "data:image/png;base64," + base64(io::read_bytes(png))},
          {"pixelated", io::describe_png(png).width <= kFewPixels}};
}

Json pictures_block(const std::string& title, std::vector<Json> items) {
  return {{"kind", "pictures"}, {"title", title}, {"items", std::move(items)}};
}

Json compare_block(const std::string& title, Json before, Json after) {
  return {{"kind", "compare"},
          {"title", title},
          {"before", std::move(before)},
          {"after", std::move(after)}};
}

}  // namespace udv::report

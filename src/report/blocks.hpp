// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

/// The parts of a report as JSON; web/README.md says what each kind holds.
namespace udv::report {

using Json = nlohmann::ordered_json;

struct Axis {
  std::string title;
  bool log = false;
  bool whole = false;  ///< ticks at whole numbers only
};

/// A line of a chart. Series of one colour belong together: bm dashed beside udu solid.
struct Series {
  std::string name;
  std::vector<double> x, y;  ///< y may be NaN: a gap
  bool dash = false;
  bool step = false;
  bool line = true;     ///< false: marks alone
  int color = -1;       ///< -1: one of its own
  std::string panel{};  ///< a panel of its own below, with this title
};

struct Rule {
  double y;
  std::string text;
};

/// Thinned to about 3 * `buckets` points a series.
Json lines_block(const std::string& title, const Axis& x, const Axis& y,
                 const std::vector<Series>& series, const std::vector<Rule>& rules = {},
                 std::size_t buckets = 130);

/// A cell: text, or {"text", "best", "paper"}.
Json table_block(const std::string& title, const std::vector<std::string>& columns,
                 std::vector<Json> rows);

Json facts_block(const std::string& title,
                 const std::vector<std::pair<std::string, std::string>>& items);

struct BarsPanel {
  std::string title;
  std::vector<std::vector<double>> values;  ///< one list a time
};

Json bars_block(const std::string& title, const std::string& x_title,
                const std::vector<double>& times, const std::vector<BarsPanel>& panels);

/// A PNG file as a data address; pictures of few pixels are drawn with hard edges.
Json picture(const std::string& caption, const std::filesystem::path& png);
Json pictures_block(const std::string& title, std::vector<Json> items);
Json compare_block(const std::string& title, Json before, Json after);

/// Six digits are more than a chart shows.
Json chart_number(double value);

}  // namespace udv::report

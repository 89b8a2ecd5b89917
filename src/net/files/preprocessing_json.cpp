// SPDX-License-Identifier: MIT
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/require.hpp"
#include "io/json_file.hpp"
#include "net/calendar.hpp"
#include "net/column_reading.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKinds[] = {"number", "category", "date"};

Json list(const Vector<double>& values) {
  return std::vector<double>(values.begin(), values.end());
}

Vector<double> vector(const Json& list) {
  const auto values = list.get<std::vector<double>>();
  return Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
}

// The library turns 1e300 into some integer.
std::int64_t whole(const Json& json, const char* key) {
  const Json& value = json.at(key);
  require(value.is_number_integer(), key, " is no whole number");
  return value;
}

Json affine_json(const ColumnTransform& how) {
  Json json = {{"offset", list(how.offset)}, {"factor", list(how.factor)}};
  if (how.clip.size() > 0) json["clip"] = list(how.clip);
  if (how.bend.size() > 0) json["bend"] = list(how.bend);
  return json;
}

ColumnTransform affine_from(const Json& json) {
  ColumnTransform how{vector(json.at("offset")), vector(json.at("factor")), {}};
  require(how.offset.size() == how.factor.size() && how.offset.allFinite() &&
              how.factor.allFinite() && (how.factor.array() != 0).all(),
          "offsets and factors expected, as many of both");
  if (json.contains("clip")) how.clip = vector(json.at("clip"));
  require(how.clip.size() == 0 || (how.clip.size() == how.offset.size() && how.clip.allFinite() &&
                                   how.clip.minCoeff() >= 0),
          "as many clips as offsets expected, 0 or more each");
  if (json.contains("bend")) how.bend = vector(json.at("bend"));
  require(how.bend.size() == 0 || (how.bend.size() == how.offset.size() && how.bend.allFinite() &&
                                   how.bend.minCoeff() > 0),
          "as many bends as offsets expected, above 0 each");
  return how;
}

Json column_json(const ColumnCoding& c) {
  return {{"column", c.column},     {"kind", kKinds[static_cast<int>(c.kind)]},
          {"fills", c.fills},       {"categories", c.categories},
          {"fallback", c.fallback}, {"onehot", c.onehot},
          {"parts", c.parts},       {"style", c.style}};
}

ColumnCoding column_from(const Json& json) {
  ColumnCoding coding;
  coding.column = json.at("column");
  const std::string kind = json.at("kind");
  int k = 0;
  while (k < 3 && kKinds[k] != kind) ++k;
  require(k < 3, "kind '", kind, "' of a column");
  coding.kind = static_cast<ColumnKind>(k);
  coding.fills = json.at("fills").get<std::vector<double>>();
  coding.categories = json.at("categories").get<std::vector<std::string>>();
  coding.fallback = whole(json, "fallback");
  coding.onehot = json.at("onehot");
  coding.parts = json.at("parts").get<std::vector<std::string>>();
  require(coding.kind == ColumnKind::kCategory ||
              static_cast<Index>(coding.fills.size()) == coding.features(),
          coding.fills.size(), " numbers for missing fields of ", coding.features());
  for (const std::string& part : coding.parts) date_part_named(part);
  coding.style = json.value("style", std::string());
  check_style(coding.kind, coding.style);
  require(std::is_sorted(coding.categories.begin(), coding.categories.end()),
          "categories that are not sorted");
  const auto count = static_cast<std::int64_t>(coding.categories.size());
  require(coding.kind != ColumnKind::kCategory ||
              (coding.fallback >= 0 && coding.fallback < std::max<std::int64_t>(count, 1)),
          "fallback ", coding.fallback, " of ", count, " categories");
  return coding;
}

void check(const Preprocessing& how) {
  Index features = 0;
  for (const ColumnCoding& coding : how.columns) features += coding.features();
  require(how.inputs > 0 && how.outputs > 0 && how.features.offset.size() == how.inputs &&
              (how.columns.empty() || features == how.inputs),
          how.inputs, " inputs do not fit ", how.features.offset.size(), " scales and ", features,
          " features");
  const bool regression = how.task == Task::kRegression;
  require(!regression || how.targets.offset.size() == how.outputs, how.outputs,
          " outputs do not fit ", how.targets.offset.size(), " scales");
  require(
      regression || how.classes.empty() || static_cast<Index>(how.classes.size()) == how.outputs,
      how.outputs, " outputs do not fit ", how.classes.size(), " classes");
}

}  // namespace

std::string Preprocessing::to_json() const {
  Json json = {{"task", task == Task::kRegression ? "regression" : "classification"},
               {"inputs", inputs},
               {"outputs", outputs},
               {"target", target},
               {"classes", classes},
               {"features", affine_json(features)},
               {"columns", Json::array()}};
  if (task == Task::kRegression) json["targets"] = affine_json(targets);
  if (!target_style.empty()) json["target_style"] = target_style;
  for (const ColumnCoding& coding : columns) json["columns"].push_back(column_json(coding));
  return json.dump();  // tables are UTF-8
}

Preprocessing Preprocessing::from_json(const std::string& text) {
  Preprocessing how;
  try {
    const Json json = Json::parse(text);
    const std::string task = json.at("task");
    require(task == "regression" || task == "classification", "task '", task,
            "' found, regression or classification expected");
    how.task = task == "regression" ? Task::kRegression : Task::kClassification;
    how.inputs = whole(json, "inputs");
    how.outputs = whole(json, "outputs");
    how.target = json.at("target");
    how.classes = json.at("classes").get<std::vector<std::string>>();
    how.features = affine_from(json.at("features"));
    if (how.task == Task::kRegression) how.targets = affine_from(json.at("targets"));
    how.target_style = json.value("target_style", std::string());
    for (const std::string& style : styles_in(how.target_style))
      check_style(ColumnKind::kNumber, style);
    for (const Json& column : json.at("columns")) how.columns.push_back(column_from(column));
    check(how);
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(message("preprocessing: ", io::detail::problem_of(error)));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(message("preprocessing: ", error.what()));
  }
  return how;
}

}  // namespace udv::net

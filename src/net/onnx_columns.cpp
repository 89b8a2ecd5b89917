// SPDX-License-Identifier: MIT
#include "net/onnx_columns.hpp"

#include <limits>
#include <numeric>

#include "core/require.hpp"
#include "net/missing.hpp"

namespace udv::net {
namespace {

// Missing numbers are replaced.
std::string add_number(const std::string& name, double fill, io::OnnxGraph& graph) {
  graph.input(name, 1);
  graph.ml_node("Imputer", {name}, name + ":filled",
                {{"imputed_value_floats", std::vector<float>{static_cast<float>(fill)}},
                 {"replaced_value_float", std::numeric_limits<float>::quiet_NaN()}});
  graph.value(name + ":filled", 1);
  return name + ":filled";
}

// Words and their codes; every spelling of "missing" is the empty word.
io::OnnxAttributes codes_of(const ColumnCoding& coding) {
  std::vector<std::string> words = coding.categories;
  std::vector<std::int64_t> codes(words.size());
  std::iota(codes.begin(), codes.end(), 0);
  const bool own = !words.empty() && words.front().empty();  // sorted: the empty word comes first
  for (const char* spelling : kMissingWords) {
    if (own && *spelling == '\0') continue;
    words.emplace_back(spelling);
    codes.push_back(own ? 0 : coding.fallback);
  }
  return {{"keys_strings", words}, {"values_int64s", codes}, {"default_int64", coding.fallback}};
}

// One number, the code of the word, or one number for each word, 1 for the one that is there.
std::string add_words(const ColumnCoding& coding, io::OnnxGraph& graph) {
  const std::string& name = coding.column;
  graph.input(name, 1, io::OnnxType::kText);
  graph.ml_node("LabelEncoder", {name}, name + ":code", codes_of(coding));
  std::string code = name + ":code";
  if (coding.onehot) {
    const auto count = static_cast<Index>(coding.categories.size());
    std::vector<std::int64_t> all(coding.categories.size());
    std::iota(all.begin(), all.end(), 0);
    graph.whole_constant(name + ":codes", {1, count}, all);
    graph.node("Equal", {code, name + ":codes"}, name + ":is");
    code = name + ":is";
  }
  constexpr std::int64_t kFloat = 1;  // TensorProto.DataType
  graph.node("Cast", {code}, name + ":number", {{"to", kFloat}});
  return name + ":number";
}

}  // namespace

std::string add_columns(const std::vector<ColumnCoding>& columns, io::OnnxGraph& graph) {
  std::vector<std::string> features;
  for (const ColumnCoding& coding : columns) {
    if (coding.kind == ColumnKind::kCategory)
      features.push_back(add_words(coding, graph));
    else if (coding.kind == ColumnKind::kNumber)
      features.push_back(add_number(coding.column, coding.fills[0], graph));
    else
      for (std::size_t p = 0; p < coding.parts.size(); ++p)
        features.push_back(
            add_number(coding.column + "." + coding.parts[p], coding.fills[p], graph));
  }
  graph.node("Concat", features, "features", {{"axis", std::int64_t{1}}});
  return "features";
}

void add_label(const std::vector<std::string>& classes, io::OnnxGraph& graph) {
  graph.node("ArgMax", {"output"}, "label:code",
             {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  std::vector<std::int64_t> codes(classes.size());
  std::iota(codes.begin(), codes.end(), 0);
  graph.ml_node("LabelEncoder", {"label:code"}, "label",
                {{"keys_int64s", codes}, {"values_strings", classes}});
  graph.output("label", 0, io::OnnxType::kText);
}

}  // namespace udv::net

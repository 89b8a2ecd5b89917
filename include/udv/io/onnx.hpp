// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::io {

/// An attribute of a node: whole numbers ("transB", "axis"), numbers or texts ("keys_strings").
using OnnxAttribute = std::variant<std::int64_t, float, std::vector<std::int64_t>,
                                   std::vector<float>, std::vector<std::string>>;
using OnnxAttributes = std::map<std::string, OnnxAttribute>;

/// What the elements of a tensor are.
enum class OnnxType { kFloat, kWhole, kText };

/// A graph of ONNX (opset 13, and 2 of the domain ai.onnx.ml where its operators are used) on rows,
/// built node by node.
class UDV_EXPORT OnnxGraph {
 public:
  explicit OnnxGraph(std::string name) : name_(std::move(name)) {}

  /// A constant of this shape.
  void constant(const std::string& name, const std::vector<Index>& shape,
                const std::vector<float>& values);
  void whole_constant(const std::string& name, const std::vector<Index>& shape,
                      const std::vector<std::int64_t>& values);
  /// outputs = op(inputs).
  void node(const std::string& op, const std::vector<std::string>& inputs,
            const std::string& output, const OnnxAttributes& attributes = {});
  /// The same with an operator of ai.onnx.ml (Imputer, LabelEncoder).
  void ml_node(const std::string& op, const std::vector<std::string>& inputs,
               const std::string& output, const OnnxAttributes& attributes);
  /// Rows of `width` elements; how many rows is left open. Width 0: one element each, no second
  /// dimension.
  void input(const std::string& name, Index width, OnnxType type = OnnxType::kFloat);
  void output(const std::string& name, Index width, OnnxType type = OnnxType::kFloat);

  /// What lies between two nodes, for checkers that do not find its type themselves.
  void value(const std::string& name, Index width, OnnxType type = OnnxType::kFloat);

  /// The bytes of an .onnx file.
  std::string model_bytes(const std::map<std::string, std::string>& metadata) const;

 private:
  void add_node(const std::string& op, const std::string& domain,
                const std::vector<std::string>& inputs, const std::string& output,
                const OnnxAttributes& attributes);

  std::string name_, constants_, nodes_, inputs_, outputs_, values_;
  int count_ = 0;
  bool uses_ml_ = false;
};

/// An input or output of a graph.
struct OnnxValue {
  std::string name;
  std::string type;                ///< "F32", ... as of a Tensor; "no tensor" of sequences and maps
  std::vector<std::string> shape;  ///< numbers, names of open sizes, or "?"
};

/// What an .onnx file says of itself, whoever wrote it. Graphs inside of nodes (If, Loop) and
/// fields that are not listed here are skipped.
struct OnnxModel {
  std::int64_t ir_version = 0;
  std::string producer, producer_version, graph;
  std::map<std::string, std::int64_t> opsets;  ///< version of each domain; "" is ONNX itself
  std::vector<OnnxValue> inputs, outputs;
  std::map<std::string, Index> operators;  ///< how many nodes of each
  std::vector<Tensor> constants;           ///< bytes: raw data, empty where stored in another way
  std::map<std::string, std::string> metadata;
  std::shared_ptr<const void> owner;  ///< of the bytes: the mapped file
};

/// Reads one. Throws IoError naming the path and the byte where the file is damaged, cut off, has
/// no graph, or a constant's raw data are not those of its shape. Nothing is allocated by announced
/// sizes.
UDV_EXPORT OnnxModel read_onnx(const std::filesystem::path& path);

}  // namespace udv::io

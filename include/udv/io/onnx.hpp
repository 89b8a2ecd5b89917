// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::io {

/// A graph of ONNX (opset 13) on float32 rows, built node by node.
class OnnxGraph {
 public:
  explicit OnnxGraph(std::string name) : name_(std::move(name)) {}

  /// A constant of this shape.
  void constant(const std::string& name, const std::vector<Index>& shape,
                const std::vector<float>& values);
  /// outputs = op(inputs); attributes are whole numbers ("transB", "axis").
  void node(const std::string& op, const std::vector<std::string>& inputs,
            const std::string& output, const std::map<std::string, std::int64_t>& attributes = {});
  /// Rows of `width` numbers; how many rows is left open.
  void input(const std::string& name, Index width);
  void output(const std::string& name, Index width);

  /// The bytes of an .onnx file.
  std::string model_bytes(const std::map<std::string, std::string>& metadata) const;

 private:
  std::string name_, constants_, nodes_, inputs_, outputs_;
  int count_ = 0;
};

}  // namespace udv::io

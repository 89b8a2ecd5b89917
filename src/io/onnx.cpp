// SPDX-License-Identifier: MIT
#include "udv/io/onnx.hpp"

#include "core/require.hpp"
#include "protobuf.hpp"
#include "udv/core/version.hpp"

// Field numbers of onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
namespace udv::io {
namespace {

using detail::ProtoMessage;

constexpr std::uint64_t kIrVersion = 8, kOpset = 13, kMlOpset = 2;
constexpr const char* kMlDomain = "ai.onnx.ml";

// TensorProto.DataType
std::uint64_t code_of(OnnxType type) {
  return type == OnnxType::kFloat ? 1 : type == OnnxType::kWhole ? 7 : 8;
}

// ValueInfoProto: a tensor of N x width elements.
ProtoMessage rows_of(const std::string& name, Index width, OnnxType type) {
  auto shape = ProtoMessage().message(1, ProtoMessage().text(2, "N"));
  if (width > 0) shape.message(1, ProtoMessage().whole(1, static_cast<std::uint64_t>(width)));
  const auto tensor = ProtoMessage().whole(1, code_of(type)).message(2, shape);
  return ProtoMessage().text(1, name).message(2, ProtoMessage().message(1, tensor));
}

template <typename Value>
ProtoMessage tensor_of(const std::string& name, const std::vector<Index>& shape,
                       const std::vector<Value>& values, OnnxType type) {
  ProtoMessage tensor;
  Index size = 1;
  for (const Index side : shape) {
    tensor.whole(1, static_cast<std::uint64_t>(side));
    size *= side;
  }
  require(size == static_cast<Index>(values.size()), "onnx: constant ", name, " has ",
          values.size(), " values, ", size, " expected");
  return tensor.whole(2, code_of(type))
      .text(8, name)
      .text(9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
}

// AttributeProto: the value in the field of its type, and the type.
struct AttributeWriter {
  ProtoMessage& out;
  void operator()(std::int64_t value) const {
    out.whole(3, static_cast<std::uint64_t>(value)).whole(20, 2);
  }
  void operator()(float value) const { out.real(2, value).whole(20, 1); }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) out.real(7, value);
    out.whole(20, 6);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) out.whole(8, static_cast<std::uint64_t>(value));
    out.whole(20, 7);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) out.text(9, value);
    out.whole(20, 8);
  }
};

// `bytes` as field `field` of the message around it.
std::string wrapped(int field, const ProtoMessage& message) {
  return ProtoMessage().message(field, message).bytes();
}

}  // namespace

void OnnxGraph::constant(const std::string& name, const std::vector<Index>& shape,
                         const std::vector<float>& values) {
  constants_ += wrapped(5, tensor_of(name, shape, values, OnnxType::kFloat));
}

void OnnxGraph::whole_constant(const std::string& name, const std::vector<Index>& shape,
                               const std::vector<std::int64_t>& values) {
  constants_ += wrapped(5, tensor_of(name, shape, values, OnnxType::kWhole));
}

void OnnxGraph::add_node(const std::string& op, const std::string& domain,
                         const std::vector<std::string>& inputs, const std::string& output,
                         const OnnxAttributes& attributes) {
  ProtoMessage node;
  for (const auto& input : inputs) node.text(1, input);
  node.text(2, output).text(3, message(op, "_", ++count_)).text(4, op);
  for (const auto& [name, value] : attributes) {
    ProtoMessage attribute;
    attribute.text(1, name);
    std::visit(AttributeWriter{attribute}, value);
    node.message(5, attribute);
  }
  if (!domain.empty()) node.text(7, domain);
  nodes_ += wrapped(1, node);
}

void OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output, const OnnxAttributes& attributes) {
  add_node(op, "", inputs, output, attributes);
}

void OnnxGraph::ml_node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output, const OnnxAttributes& attributes) {
  uses_ml_ = true;
  add_node(op, kMlDomain, inputs, output, attributes);
}

void OnnxGraph::input(const std::string& name, Index width, OnnxType type) {
  inputs_ += wrapped(11, rows_of(name, width, type));
}

void OnnxGraph::output(const std::string& name, Index width, OnnxType type) {
  outputs_ += wrapped(12, rows_of(name, width, type));
}

void OnnxGraph::value(const std::string& name, Index width, OnnxType type) {
  values_ += wrapped(13, rows_of(name, width, type));
}

std::string OnnxGraph::model_bytes(const std::map<std::string, std::string>& metadata) const {
  const std::string graph =
      nodes_ + ProtoMessage().text(2, name_).bytes() + constants_ + inputs_ + outputs_ + values_;
  ProtoMessage model;
  model.whole(1, kIrVersion).text(2, "udv").text(3, version()).text(7, graph);
  model.message(8, ProtoMessage().text(1, "").whole(2, kOpset));
  if (uses_ml_) model.message(8, ProtoMessage().text(1, kMlDomain).whole(2, kMlOpset));
  for (const auto& [key, value] : metadata)
    model.message(14, ProtoMessage().text(1, key).text(2, value));
  return model.bytes();
}

}  // namespace udv::io

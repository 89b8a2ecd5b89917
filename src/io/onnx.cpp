// SPDX-License-Identifier: MIT
#include "udv/io/onnx.hpp"

#include "core/require.hpp"
#include "protobuf.hpp"
#include "udv/core/version.hpp"

// Field numbers of onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
namespace udv::io {
namespace {

using detail::ProtoMessage;

constexpr std::uint64_t kFloat = 1, kIrVersion = 8, kOpset = 13, kWholeAttribute = 2;

// ValueInfoProto: a tensor of N x width floats.
ProtoMessage rows_of(const std::string& name, Index width) {
  const auto shape = ProtoMessage()
                         .message(1, ProtoMessage().text(2, "N"))
                         .message(1, ProtoMessage().whole(1, static_cast<std::uint64_t>(width)));
  const auto tensor = ProtoMessage().whole(1, kFloat).message(2, shape);
  return ProtoMessage().text(1, name).message(2, ProtoMessage().message(1, tensor));
}

// `bytes` as field `field` of the message around it.
std::string wrapped(int field, const ProtoMessage& message) {
  return ProtoMessage().message(field, message).bytes();
}

}  // namespace

void OnnxGraph::constant(const std::string& name, const std::vector<Index>& shape,
                         const std::vector<float>& values) {
  ProtoMessage tensor;
  Index size = 1;
  for (const Index side : shape) {
    tensor.whole(1, static_cast<std::uint64_t>(side));
    size *= side;
  }
  require(size == static_cast<Index>(values.size()), "onnx: constant ", name, " has ",
          values.size(), " values, ", size, " expected");
  tensor.whole(2, kFloat).text(8, name).text(
      9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  constants_ += wrapped(5, tensor);
}

void OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::string& output,
                     const std::map<std::string, std::int64_t>& attributes) {
  ProtoMessage node;
  for (const auto& input : inputs) node.text(1, input);
  node.text(2, output).text(3, message(op, "_", ++count_)).text(4, op);
  for (const auto& [name, value] : attributes)
    node.message(5, ProtoMessage()
                        .text(1, name)
                        .whole(3, static_cast<std::uint64_t>(value))
                        .whole(20, kWholeAttribute));
  nodes_ += wrapped(1, node);
}

void OnnxGraph::input(const std::string& name, Index width) {
  inputs_ += wrapped(11, rows_of(name, width));
}

void OnnxGraph::output(const std::string& name, Index width) {
  outputs_ += wrapped(12, rows_of(name, width));
}

std::string OnnxGraph::model_bytes(const std::map<std::string, std::string>& metadata) const {
  const std::string graph =
      nodes_ + ProtoMessage().text(2, name_).bytes() + constants_ + inputs_ + outputs_;
  ProtoMessage model;
  model.whole(1, kIrVersion).text(2, "udv").text(3, version()).text(7, graph);
  model.message(8, ProtoMessage().text(1, "").whole(2, kOpset));
  for (const auto& [key, value] : metadata)
    model.message(14, ProtoMessage().text(1, key).text(2, value));
  return model.bytes();
}

}  // namespace udv::io

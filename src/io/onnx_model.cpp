// SPDX-License-Identifier: MIT
#include "array_layout.hpp"
#include "core/require.hpp"
#include "mapped_file.hpp"
#include "protobuf.hpp"
#include "text.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/onnx.hpp"

// Field numbers of onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
namespace udv::io {
namespace {

using detail::ProtoReader;

constexpr const char* kTypes[] = {
    nullptr, "F32", "U8",  "I8",  "U16", "I16",  "I32",  "I64",     "TEXT",        "BOOL",
    "F16",   "F64", "U32", "U64", "C64", "C128", "BF16", "F8_E4M3", "F8_E4M3FNUZ", "F8_E5M2"};

std::string type_name(std::uint64_t code) {
  const bool known = code > 0 && code < std::size(kTypes);
  return known ? kTypes[code] : message("type ", code);
}

// A size, the name of an open one, or nothing.
std::string read_dimension(ProtoReader dimension) {
  std::string text = "?";
  while (dimension.next()) {
    if (dimension.field() == 1 && dimension.integer() >= 0)
      text = std::to_string(dimension.integer());
    if (dimension.field() == 2 && !dimension.bytes().empty()) text = dimension.text();
  }
  return text;
}

void read_tensor_type(ProtoReader type, OnnxValue& value) {
  while (type.next()) {
    if (type.field() == 1) value.type = type_name(type.whole());
    if (type.field() != 2) continue;
    ProtoReader shape = type.message();
    value.shape.clear();
    while (shape.next())
      if (shape.field() == 1) value.shape.push_back(read_dimension(shape.message()));
  }
}

OnnxValue read_value(ProtoReader info) {
  OnnxValue value;
  value.type = "no tensor";
  while (info.next()) {
    if (info.field() == 1) value.name = info.text();
    if (info.field() != 2) continue;
    ProtoReader type = info.message();
    while (type.next())
      if (type.field() == 1) read_tensor_type(type.message(), value);
  }
  return value;
}

// Sizes are compared with the raw bytes where there are any; other files may hold the numbers.
void check_constant(const ProtoReader& field, const Tensor& tensor) {
  constexpr std::size_t kMostDimensions = 64;
  const std::string name = detail::in_quotes(tensor.name);
  if (tensor.shape.size() > kMostDimensions)
    field.fail(message(tensor.shape.size(), " dimensions of constant ", name),
               message("at most ", kMostDimensions));
  for (const Index size : tensor.shape)
    if (size < 0) field.fail(message("size ", size, " of constant ", name), "0 or more");
  const std::optional<std::size_t> count = detail::element_count(tensor.shape);
  const std::size_t width = tensor_type_size(tensor.type);
  std::size_t size = 0;
  if (!count || *count > PTRDIFF_MAX || __builtin_mul_overflow(*count, width, &size))
    field.fail(message("shape ", shape_text(tensor.shape), " of constant ", name),
               "fewer than 2^63 bytes");
  if (!tensor.bytes.empty() && width > 0 && tensor.bytes.size() != size)
    field.fail(message(tensor.bytes.size(), " bytes of constant ", name),
               message(size, " for shape ", shape_text(tensor.shape), " of ", tensor.type));
}

Tensor read_constant(const ProtoReader& field) {
  Tensor tensor;
  ProtoReader part = field.message();
  while (part.next()) {
    if (part.field() == 1) part.integers([&](std::int64_t size) { tensor.shape.push_back(size); });
    if (part.field() == 2) tensor.type = type_name(part.whole());
    if (part.field() == 8) tensor.name = part.text();
    if (part.field() == 9) tensor.bytes = part.bytes();
  }
  if (tensor.type.empty()) field.fail("a constant without a type", "one with a type");
  check_constant(field, tensor);
  return tensor;
}

std::string operator_name(ProtoReader node) {
  std::string name = "?";
  while (node.next())
    if (node.field() == 4) name = node.text();
  return name;
}

void read_graph(ProtoReader graph, OnnxModel& model) {
  while (graph.next()) {
    if (graph.field() == 1) ++model.operators[operator_name(graph.message())];
    if (graph.field() == 2) model.graph = graph.text();
    if (graph.field() == 5) model.constants.push_back(read_constant(graph));
    if (graph.field() == 11) model.inputs.push_back(read_value(graph.message()));
    if (graph.field() == 12) model.outputs.push_back(read_value(graph.message()));
  }
}

void read_opset(ProtoReader opset, OnnxModel& model) {
  std::string domain;
  std::int64_t version = 0;
  while (opset.next()) {
    if (opset.field() == 1) domain = opset.text();
    if (opset.field() == 2) version = opset.integer();
  }
  model.opsets[domain] = version;
}

void read_entry(ProtoReader entry, OnnxModel& model) {
  std::string key, value;
  while (entry.next()) {
    if (entry.field() == 1) key = entry.text();
    if (entry.field() == 2) value = entry.text();
  }
  model.metadata[key] = value;
}

}  // namespace

OnnxModel read_onnx(const std::filesystem::path& path) {
  const std::string name = path.string();
  const detail::MappedFile file = detail::map_file(path, "an ONNX model");
  OnnxModel model;
  model.owner = file.owner;
  bool has_graph = false;
  ProtoReader field(name, file.bytes);
  while (field.next()) {
    if (field.field() == 1) model.ir_version = field.integer();
    if (field.field() == 2) model.producer = field.text();
    if (field.field() == 3) model.producer_version = field.text();
    if (field.field() == 7) read_graph(field.message(), model);
    if (field.field() == 8) read_opset(field.message(), model);
    if (field.field() == 14) read_entry(field.message(), model);
    has_graph = has_graph || field.field() == 7;
  }
  require<IoError>(has_graph, name, ": ", file.bytes.size(),
                   " bytes without a graph found, an ONNX model expected");
  return model;
}

}  // namespace udv::io

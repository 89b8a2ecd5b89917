// SPDX-License-Identifier: MIT
#include "udv/io/onnx.hpp"

#include <gtest/gtest.h>

#include "damaged_files.hpp"
#include "io/protobuf.hpp"

namespace udv::io {
namespace onnx_test {

using detail::ProtoMessage;

std::string sample() {
  OnnxGraph graph("head");
  graph.input("x", 3);
  graph.constant("W", {2, 3}, {1, 2, 3, 4, 5, 6});
  graph.constant("b", {2}, {7, 8});
  graph.node("Gemm", {"x", "W", "b"}, "h", {{"transB", 1}});
  graph.node("Relu", {"h"}, "r");
  graph.node("Relu", {"r"}, "y");
  graph.output("y", 2);
  return graph.model_bytes({{"README", "text"}});
}

OnnxModel read(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_onnx(folder.write("m.onnx", bytes));
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("m.onnx", bytes);
  return folder.error_of([&] { read_onnx(path); });
}

// A model whose graph holds one constant.
std::string with_constant(const ProtoMessage& constant) {
  return ProtoMessage().message(7, ProtoMessage().message(5, constant)).bytes();
}

TEST(Onnx, ComesBackAsWritten) {
  const OnnxModel model = read(sample());
  EXPECT_EQ(model.producer, "udv");
  EXPECT_EQ(model.graph, "head");
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.opsets, (std::map<std::string, std::int64_t>{{"", 13}}));
  EXPECT_EQ(model.operators, (std::map<std::string, Index>{{"Gemm", 1}, {"Relu", 2}}));
  EXPECT_EQ(model.metadata.at("README"), "text");
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.inputs[0].type, "F32");
  EXPECT_EQ(model.inputs[0].shape, (std::vector<std::string>{"N", "3"}));
  ASSERT_EQ(model.outputs.size(), 1u);
  EXPECT_EQ(model.outputs[0].shape, (std::vector<std::string>{"N", "2"}));
}

TEST(Onnx, ConstantsComeWithTheirNumbers) {
  const OnnxModel model = read(sample());
  ASSERT_EQ(model.constants.size(), 2u);
  const Tensor& W = model.constants[0];
  EXPECT_EQ(W.name, "W");
  EXPECT_EQ(W.type, "F32");
  EXPECT_EQ(W.shape, (std::vector<Index>{2, 3}));
  const Vector<double> values = tensor_values<double>("m.onnx", W);
  EXPECT_EQ(values, (Vector<double>::LinSpaced(6, 1, 6)));
}

TEST(Onnx, FieldsOfOthersAreSkippedAndPackedSizesAreRead) {
  const auto constant = ProtoMessage()
                            .text(1, std::string("\x02\x03", 2))  // packed sizes
                            .whole(2, 7)
                            .text(8, "n")
                            .text(7, "six numbers of eight bytes");  // int64_data
  std::string bytes = with_constant(constant);
  bytes += ProtoMessage().text(25, "training info").whole(5, 3).bytes();
  bytes += std::string("\x09", 1) + "12345678";  // field 1, eight bytes: not the IR version
  EXPECT_NE(error_of(bytes).find("wire type 1 found at byte"), std::string::npos);
  bytes.resize(bytes.size() - 9);
  bytes +=
      "\x51"
      "12345678"
      "\x55"
      "1234";  // field 10 of eight and of four bytes
  const OnnxModel model = read(bytes);
  ASSERT_EQ(model.constants.size(), 1u);
  EXPECT_EQ(model.constants[0].shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(model.constants[0].type, "I64");
  EXPECT_TRUE(model.constants[0].bytes.empty());
}

TEST(Onnx, OpenSizesAndOtherTypesHaveWords) {
  const auto dimension = ProtoMessage().whole(1, static_cast<std::uint64_t>(-1));
  const auto shape = ProtoMessage().message(1, dimension).message(1, ProtoMessage());
  const auto tensor = ProtoMessage().whole(1, 99).message(2, shape);
  const auto open = ProtoMessage().text(1, "a").message(2, ProtoMessage().message(1, tensor));
  const auto list = ProtoMessage().text(1, "b").message(2, ProtoMessage().message(4, {}));
  const OnnxModel model =
      read(ProtoMessage().message(7, ProtoMessage().message(11, open).message(11, list)).bytes());
  ASSERT_EQ(model.inputs.size(), 2u);
  EXPECT_EQ(model.inputs[0].shape, (std::vector<std::string>{"?", "?"}));
  EXPECT_EQ(model.inputs[0].type, "type 99");
  EXPECT_EQ(model.inputs[1].type, "no tensor");
}

TEST(Onnx, EveryBeginningOfAFileIsReadOrRefused) {
  const std::string bytes = sample();
  const TemporaryFolder folder;
  int refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto path = folder.write("m.onnx", bytes.substr(0, size));
    const std::string error = folder.error_of([&] { read_onnx(path); });
    if (error == "no error") continue;
    EXPECT_TRUE(error.starts_with("m.onnx: ")) << error;
    ++refused;
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()) / 2);
}

TEST(Onnx, EveryFlippedByteIsReadOrRefused) {
  expect_survives_flipped_bytes("m.onnx", sample(), [](const auto& path) { read_onnx(path); });
}

TEST(Onnx, BadBytesAreNamedWithTheirPlace) {
  EXPECT_EQ(error_of(""), "m.onnx: 0 bytes found, an ONNX model expected");
  EXPECT_EQ(error_of(ProtoMessage().whole(1, 8).bytes()),
            "m.onnx: 2 bytes without a graph found, an ONNX model expected");
  EXPECT_EQ(error_of("\x3a\x05"
                     "abc"),
            "m.onnx: a field of 5 bytes found at byte 0, at most the 3 that are left expected");
  EXPECT_EQ(error_of("\x08\x01\x0f"), "m.onnx: wire type 7 found at byte 2, 0, 1, 2 or 5 expected");
  EXPECT_EQ(error_of("\x08\xff"),
            "m.onnx: the end of the message found at byte 0, the rest of a number expected");
  EXPECT_EQ(error_of("\x08" + std::string(10, '\xff')),
            "m.onnx: a number of more than 64 bits found at byte 0, a shorter one expected");
  EXPECT_EQ(error_of(std::string(2, '\0')),
            "m.onnx: field number 0 found at byte 0, 1 to 536870911 expected");
}

TEST(Onnx, ConstantsThatLieAreRefused) {
  const std::uint64_t huge = std::uint64_t{1} << 62;
  EXPECT_EQ(error_of(with_constant(ProtoMessage().whole(1, huge).whole(1, huge).whole(2, 1))),
            "m.onnx: shape 4611686018427387904 x 4611686018427387904 of constant '' found at byte "
            "2, fewer than 2^63 bytes expected");
  EXPECT_EQ(error_of(with_constant(ProtoMessage().whole(1, ~std::uint64_t{0}).whole(2, 1))),
            "m.onnx: size -1 of constant '' found at byte 2, 0 or more expected");
  EXPECT_EQ(error_of(with_constant(ProtoMessage().whole(1, 3).whole(2, 1).text(9, "1234"))),
            "m.onnx: 4 bytes of constant '' found at byte 2, 12 for shape 3 of F32 expected");
  EXPECT_EQ(error_of(with_constant(ProtoMessage().whole(1, 3))),
            "m.onnx: a constant without a type found at byte 2, one with a type expected");
}

}  // namespace onnx_test
}  // namespace udv::io

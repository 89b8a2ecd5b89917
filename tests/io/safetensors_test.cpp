// SPDX-License-Identifier: MIT
#include "udv/io/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "io/temporary_files.hpp"

namespace udv::io {
namespace safetensors_test {

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("m.safetensors", bytes);
  try {
    SafetensorsFile file(path);
  } catch (const IoError& error) {
    return std::string(error.what()).substr(path.string().size() + 2);
  }
  return "no error";
}

TEST(Safetensors, ComeBackAsWritten) {
  const TemporaryFolder folder;
  const Vector<float> a = Vector<float>::LinSpaced(6, 1, 6), b = Vector<float>::Constant(1, -2);
  const auto path = folder / "m.safetensors";
  write_safetensors<float>(path, {{"a.weight", {2, 3}, a.data()}, {"b", {1}, b.data()}},
                           {{"note", "zwölf \"Boxer\""}});
  const SafetensorsFile file(path);
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.metadata().at("note"), "zwölf \"Boxer\"");
  const Tensor* tensor = file.find("a.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->type, "F32");
  EXPECT_EQ(tensor->shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(file.read<float>(*tensor), a);
  EXPECT_EQ(file.read<double>(*file.find("b"))(0), -2);
  EXPECT_EQ(file.find("c"), nullptr);
}

TEST(Safetensors, EmptyTensorsKeepTheirShape) {
  const TemporaryFolder folder;
  const float none = 0;
  write_safetensors<float>(folder / "m", {{"a", {0, 3000}, &none}, {"b", {3000, 0}, &none}}, {});
  const SafetensorsFile file(folder / "m");
  EXPECT_EQ(file.find("a")->shape, (std::vector<Index>{0, 3000}));
  EXPECT_EQ(file.find("b")->shape, (std::vector<Index>{3000, 0}));
  EXPECT_EQ(file.read<float>(*file.find("b")).size(), 0);
}

TEST(Safetensors, ReadsShortFloats) {
  const TemporaryFolder folder;
  // 1, -2, 2^-24 and infinity in half precision; 1 and -2 in bfloat16
  const std::string data = bytes_of_hex(
      "003c00c00100007c"
      "803f00c0");
  const SafetensorsFile file(
      folder.write("m", file_of(R"({"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
                                R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})",
                                data)));
  const auto h = file.read<double>(*file.find("h"));
  EXPECT_EQ(h(0), 1);
  EXPECT_EQ(h(1), -2);
  EXPECT_EQ(h(2), 0x1p-24);
  EXPECT_TRUE(std::isinf(h(3)));
  EXPECT_EQ(file.read<float>(*file.find("b"))(1), -2);
}

TEST(Safetensors, RefusesDamagedFiles) {
  EXPECT_EQ(error_of(""), "0 bytes found, a safetensors file expected");
  EXPECT_EQ(error_of("abc"), "3 bytes found, a safetensors file expected");
  EXPECT_EQ(error_of(std::string(8, '\xff') + "{}"),
            "a header of 18446744073709551615 bytes announced, 2 bytes left in the file");
  EXPECT_EQ(error_of(file_of("[1]", "")), "the header is no JSON object");
  EXPECT_EQ(error_of(file_of("{", "")), "the header is no JSON object");
}

TEST(Safetensors, RefusesTensorsThatCannotBe) {
  const auto one = [](const std::string& entry, const std::string& data = "12345678") {
    return error_of(file_of("{\"t\":" + entry + "}", data));
  };
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", "1234567890123456"),
            "tensor 't': shape 3 of F32 needs 12 bytes, 8 announced");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"),
            "tensor 't': bytes 4 to 12 announced, 8 in the file");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"),
            "tensor 't': bytes 8 to 0 announced, 8 in the file");
  EXPECT_EQ(one(R"({"dtype":"F31","shape":[2],"data_offsets":[0,8]})"),
            "tensor 't': type 'F31' is unknown");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"),
            "tensor 't': a shape of whole numbers expected");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"),
            "tensor 't': shape 4294967296 x 4294967296 is larger than the file");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[4294967296,0,4294967296],"data_offsets":[0,0]})"),
            "tensor 't': shape 4294967296 x 0 x 4294967296 is larger than the file");
  EXPECT_EQ(one(R"({"dtype":"F32","shape":[2]})"),
            "tensor 't': dtype, shape and data_offsets expected");
  EXPECT_EQ(one("7"), "tensor 't': dtype, shape and data_offsets expected");
  EXPECT_EQ(error_of(file_of(R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)"
                             R"("b":{"dtype":"U8","shape":[6],"data_offsets":[2,8]}})",
                             "12345678")),
            "tensors 'a' and 'b' overlap");
  EXPECT_EQ(error_of(file_of(R"({"__metadata__":{"k":1}})", "")), "metadata 'k' is no text");
}

// Every half and bfloat number, written and read, is itself; between two of them the even one.
TEST(TensorBytes, RoundToTheNearestNumber) {
  for (const char* type : {"F16", "BF16"}) {
    std::string all(2 * 65536, '\0');
    for (int i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      std::memcpy(all.data() + 2 * i, &bits, 2);
    }
    const Vector<float> values = tensor_values<float>("f", {"t", type, {65536}, all});
    const std::string again = tensor_bytes(type, values.data(), values.size());
    for (int i = 0; i < 65536; ++i)
      if (!std::isnan(values(i)))
        ASSERT_EQ(again.substr(2 * i, 2), all.substr(2 * i, 2)) << type << i;
      else
        ASSERT_TRUE(
            std::isnan(tensor_values<float>("f", {"t", type, {1}, again.substr(2 * i, 2)})(0)));
  }
  const auto rounded = [](const char* type, double value) {
    const std::string bytes = tensor_bytes(type, &value, 1);
    return tensor_values<double>("f", {"t", type, {1}, bytes})(0);
  };
  EXPECT_EQ(rounded("BF16", 1 + 1.0 / 256), 1);
  EXPECT_EQ(rounded("BF16", 1 + 3.0 / 256), 1 + 4.0 / 256);
  EXPECT_EQ(rounded("F16", 1 + 1.0 / 2048), 1);
  EXPECT_EQ(rounded("F16", 1 + 3.0 / 2048), 1 + 4.0 / 2048);
  EXPECT_EQ(rounded("F16", 1e-8), 0);
  EXPECT_EQ(rounded("F16", 65519), 65504);
  EXPECT_TRUE(std::isinf(rounded("F16", -65520)));
  EXPECT_EQ(rounded("F32", 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(rounded("F64", 0.1), 0.1);
}

}  // namespace safetensors_test
}  // namespace udv::io

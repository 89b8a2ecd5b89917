// SPDX-License-Identifier: MIT
#include "text/llama2c.hpp"

#include <gtest/gtest.h>

#include <array>

#include "udv/core/error.hpp"

namespace udv::text {
namespace llama2c_test {

std::string header(const std::array<std::int32_t, 7>& sizes, size_t floats) {
  return std::string(reinterpret_cast<const char*>(sizes.data()), kLlama2cHeader) +
         std::string(sizeof(float) * floats, '\0');
}

std::string error_of(const std::string& bytes) {
  try {
    llama2c_config("m.bin", bytes);
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

TEST(Llama2cHeader, GivesTheSizesAndTellsWhetherTheOutputLayerFollows) {
  LlamaConfig c = llama2c_config("m.bin", header({4, 6, 1, 2, 1, 5, 3}, 200));
  EXPECT_EQ(c.dim, 4);
  EXPECT_EQ(c.head_dim, 2);
  EXPECT_EQ(c.vocabulary, 5);
  EXPECT_TRUE(c.tied);
  c = llama2c_config("m.bin", header({4, 6, 1, 2, 1, -5, 3}, 200));
  EXPECT_EQ(c.vocabulary, 5);
  EXPECT_FALSE(c.tied);
}

TEST(Llama2cHeader, RefusesSizesThatMakeNoSense) {
  EXPECT_EQ(error_of("abc"), "m.bin: 3 bytes found, a model in llama2.c's format expected");
  EXPECT_EQ(error_of(header({4, 6, 1, 2, 1, 5, 0}, 200)),
            "m.bin: a size of 0 found in its header, not a model in llama2.c's format");
  EXPECT_EQ(error_of(header({4, 6, 1, 2, 1, 5, 1 << 24}, 200)),
            "m.bin: a size of 16777216 found in its header, not a model in llama2.c's format");
}

TEST(Llama2cHeader, RefusesFewerBytesThanItAsksFor) {
  const std::int32_t most = (1 << 24) - 1;
  EXPECT_EQ(error_of(header({4, 6, 1, 2, 1, 5, 3}, 10)),
            "m.bin: 68 bytes found, at least 660 expected by its header");
  EXPECT_NE(error_of(header({2, most, most, 1, 1, most, most}, 10)), "");
}

}  // namespace llama2c_test
}  // namespace udv::text

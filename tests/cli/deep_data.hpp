// SPDX-License-Identifier: MIT
// Small inputs for the LibTorch component: pictures, a language model, texts.
#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/support.hpp"
#include "support/random_data.hpp"
#include "udv/io/png.hpp"

namespace udv::cli {

/// Two classes, dark and bright, of 12 pictures each.
inline void write_pictures(const Cli& cli, std::uint64_t seed = 1) {
  Random random(seed, testing::kTestStream);
  for (const int shade : {40, 160}) {
    const std::string name = shade == 40 ? "pictures/dark" : "pictures/bright";
    std::filesystem::create_directories(cli.path(name));
    for (int i = 0; i < 12; ++i) {
      io::RgbImage picture{16, 16, {}};
      for (int p = 0; p < 3 * 16 * 16; ++p)
        picture.pixels.push_back(static_cast<std::uint8_t>(shade + random.below(50)));
      io::write_png(cli.path(fmt::format("{}/{}.png", name, i)), picture);
    }
  }
}

template <typename Number>
void append(Number value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline constexpr int kPlain = 6;  // pieces besides marks and bytes
inline constexpr int kVocabulary = 259 + kPlain;

/// A model of llama2.c with random weights: 2 layers of 16, 4 heads, 2 of keys and values.
inline std::string model_bytes() {
  constexpr int kDim = 16, kHidden = 24, kLayers = 2, kKv = 8, kContext = 32;
  std::string bytes;
  for (const std::int32_t size : {kDim, kHidden, kLayers, 4, 2, kVocabulary, kContext})
    append(size, bytes);
  Random random(3, testing::kTestStream);
  const auto add = [&](int count, double deviation) {
    for (int i = 0; i < count; ++i)
      append(static_cast<float>(deviation == 0 ? 1 : deviation * random.normal()), bytes);
  };
  add(kVocabulary * kDim, 0.4);
  add(kLayers * kDim, 0);
  for (const int rows : {kDim, kKv, kKv, kDim}) add(kLayers * rows * kDim, 0.3);
  add(kLayers * kDim, 0);
  add(3 * kLayers * kDim * kHidden, 0.3);
  add(kDim, 0);
  add(kContext * 4, 0.1);  // tables that nobody reads
  return bytes;
}

inline std::string tokenizer_bytes() {
  std::string bytes;
  append(std::int32_t{8}, bytes);
  const auto add = [&](const std::string& text, float score) {
    append(score, bytes);
    append(static_cast<std::int32_t>(text.size()), bytes);
    bytes += text;
  };
  for (const char* mark : {"<unk>", "<s>", "</s>"}) add(mark, 0);
  for (int byte = 0; byte < 256; ++byte) add(fmt::format("<0x{:02X}>", byte), 0);
  float score = 0;
  for (const char* text : {" a", "ab", " ", "a", "b", "c"}) add(text, score -= 1);
  return bytes;
}

/// Words that follow each other in a fixed manner, mostly.
inline std::string some_text(int words, int seed) {
  Random random(static_cast<std::uint64_t>(seed), testing::kTestStream);
  std::string text;
  for (int i = 0; i < words; ++i) text += random.uniform() < 0.85 ? "ab ac " : "c b ";
  return text;
}

}  // namespace udv::cli

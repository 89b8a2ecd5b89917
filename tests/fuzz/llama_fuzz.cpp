// SPDX-License-Identifier: MIT
// Configurations of LLaMA models: config.json of Hugging Face, and the header of llama2.c.
#include "input_file.hpp"
#include "text/llama2c.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("config.json");
  const std::string_view bytes = fuzz::view(data, size);
  fuzz::read_or_refuse(file.write(bytes),
                       [](const auto& path) { text::read_llama_config(path).config.validate(); });
  fuzz::read_or_refuse("model.bin", [&](const auto& path) {
    const text::LlamaConfig config = text::llama2c_config(path.string(), bytes);
    if (config.parameters() > static_cast<Index>(bytes.size())) __builtin_trap();
  });
  return 0;
}

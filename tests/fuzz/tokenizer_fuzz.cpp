// SPDX-License-Identifier: MIT
// Tokenizers of Hugging Face, sentencepiece and llama2.c: reading, and a text there and back. The
// first byte chooses the kind.
#include <numeric>

#include "input_file.hpp"
#include "udv/text/tokenizer.hpp"

using namespace udv;

namespace {

void there_and_back(const text::Tokenizer& tokenizer) {
  for (const char* const text : {"", "ab ba  Ab1\n", "\xc3\xa4\xe2\x82\xac\xff </s>"})
    tokenizer.decode(tokenizer.encode(text));
  for (text::Token token = 0; token < std::min<Index>(tokenizer.size(), 300); ++token)
    tokenizer.piece(token);
  tokenizer.files();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile files[] = {fuzz::InputFile("tokenizer.json"),
                                          fuzz::InputFile("tokenizer.model"),
                                          fuzz::InputFile("tokenizer.bin")};
  if (size == 0) return 0;
  fuzz::read_or_refuse(files[data[0] % std::size(files)].write(fuzz::view(data + 1, size - 1)),
                       [](const auto& path) { there_and_back(*text::read_tokenizer(path)); });
  return 0;
}

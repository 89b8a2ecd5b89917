// SPDX-License-Identifier: MIT
// The tokens of a text as int32 numbers, for bench_lora. usage: bench_tokens TOKENIZER TEXT OUT
#include <iostream>

#include "udv/io/file.hpp"
#include "udv/text/tokenizer.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: bench_tokens TOKENIZER TEXT OUT\n";
    return 2;
  }
  try {
    const auto tokenizer = udv::text::read_tokenizer(argv[1]);
    auto tokens = tokenizer->encode(udv::io::read_bytes(argv[2]));
    if (tokenizer->begin() >= 0) tokens.insert(tokens.begin(), tokenizer->begin());
    udv::io::write_atomically(
        argv[3], {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(tokens[0])});
    std::cout << tokens.size() << " tokens\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_tokens: " << error.what() << '\n';
    return 1;
  }
}

// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/file.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.gz");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)),
                       [](const auto& path) { io::read_bytes(path); });
  return 0;
}

// SPDX-License-Identifier: MIT
#include "deep/picture.hpp"
#include "input_file.hpp"
#include "udv/io/expansion.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.jpg");
  io::set_expansion_limit(
      {0x1p22, 1000});  // large pictures of one colour take time and find nothing
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) { deep::read_jpeg(p); });
  return 0;
}

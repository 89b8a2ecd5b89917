// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/png.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.png");
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) { io::describe_png(p); });
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_png_gray(p); });
  return 0;
}

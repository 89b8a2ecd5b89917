// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/variables.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.npy");
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_complex_npy(p); });
  fuzz::read_or_refuse(path, [](const auto& p) { io::describe_npy(p); });
  return 0;
}

// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/variables.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.npz");
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_npz(p); });
  fuzz::read_or_refuse(path, [](const auto& p) {
    const io::VariableFile variables(p);
    for (const io::Variable& variable : variables.variables())
      if (variable.is_numeric) variables.read(variable.name);
  });
  return 0;
}

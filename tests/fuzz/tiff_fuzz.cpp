// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/tiff.hpp"
#include "udv/io/variables.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.tif");
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) {
    const io::VariableFile images(p);
    for (const auto& variable : images.variables()) {
      images.read(variable.name);
      images.read(variable.name, {0, variable.shape[0] / 2, variable.shape[0]});
    }
  });
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_tiff_info(p); });
  return 0;
}

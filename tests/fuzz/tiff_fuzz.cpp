// SPDX-License-Identifier: MIT
// What stands between libtiff and an image, in this process: in a child, where it runs otherwise,
// an input takes 7 ms.
#include "input_file.hpp"
#include "io/tiff.hpp"
#include "io/variable_format.hpp"
#include "udv/io/expansion.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.tif");
  io::set_expansion_limit({0x1p22, 1000});  // large arrays of zeros take time and find nothing
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) {
    const io::detail::VariableFormat& format = io::detail::kTiffFormat;
    for (const auto& variable : format.list(p)) {
      format.read(p, variable);
      format.read_slices(p, variable, {0, variable.shape[0] / 2, variable.shape[0]});
    }
  });
  fuzz::read_or_refuse(path, [](const auto& p) { io::detail::tiff_info(p); });
  return 0;
}

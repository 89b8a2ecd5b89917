// SPDX-License-Identifier: MIT
// Our own look at MATLAB 5 files, which stands before matio's.
#include "input_file.hpp"
#include "io/variable_format.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 128) return 0;  // the header, which tells the format
  fuzz::read_or_refuse("input.mat", [&](const auto& path) {
    io::detail::check_mat5(path.string(), fuzz::view(data, size));
  });
  return 0;
}

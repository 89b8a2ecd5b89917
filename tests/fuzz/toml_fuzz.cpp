// SPDX-License-Identifier: MIT
// Settings and set-ups.
#include "input_file.hpp"
#include "io/toml_file.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  fuzz::read_or_refuse("input.toml", [&](const auto& path) {
    io::detail::parse_toml(path.string(), fuzz::view(data, size));
  });
  return 0;
}

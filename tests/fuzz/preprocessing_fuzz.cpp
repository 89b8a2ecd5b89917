// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/net/preprocessing.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    net::Preprocessing::from_json(std::string(fuzz::view(data, size))).to_json();
  } catch (const InvalidArgument&) {
  }
  return 0;
}

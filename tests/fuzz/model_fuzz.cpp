// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/net/files/model_file.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("model.safetensors");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)),
                       [](const auto& path) { net::model_bytes(net::read_model<float>(path)); });
  return 0;
}

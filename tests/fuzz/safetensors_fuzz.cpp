// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/safetensors.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.safetensors");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)), [](const auto& path) {
    const io::SafetensorsFile tensors(path);
    for (const io::Tensor& tensor : tensors.tensors())
      if (tensor.is_float()) tensors.read<float>(tensor);
  });
  return 0;
}

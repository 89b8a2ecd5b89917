// SPDX-License-Identifier: MIT
#include "input_file.hpp"
#include "udv/io/onnx.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.onnx");
  fuzz::read_or_refuse(file.write(fuzz::view(data, size)), [](const auto& path) {
    const io::OnnxModel model = io::read_onnx(path);
    for (const io::Tensor& constant : model.constants)
      if (constant.is_float() && !constant.bytes.empty())
        io::tensor_values<double>(path.string(), constant);
  });
  return 0;
}

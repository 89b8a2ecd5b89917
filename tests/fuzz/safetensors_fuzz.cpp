// SPDX-License-Identifier: MIT
// libFuzzer: no bytes may make the reader of safetensors crash; it reads or throws IoError.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "udv/core/error.hpp"
#include "udv/io/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  try {
    const udv::io::SafetensorsFile read(path);
    for (const udv::io::Tensor& tensor : read.tensors())
      if (tensor.type == "F32" || tensor.type == "BF16") read.read<float>(tensor);
  } catch (const udv::IoError&) {
  }
  return 0;
}

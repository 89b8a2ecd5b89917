// SPDX-License-Identifier: MIT
// IDX, as images and as the labels of three, and both kinds of CIFAR.
#include "input_file.hpp"
#include "udv/io/images.hpp"

using namespace udv;

namespace {

const std::filesystem::path& three_images() {
  static const fuzz::InputFile file("images-ubyte");
  constexpr std::string_view kBytes(
      "\0\0\x08\x02\0\0\0\x03\0\0\0\x01"
      "abc",
      15);
  static const std::filesystem::path& path = file.write(kBytes);
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input-ubyte");
  const auto& path = file.write(fuzz::view(data, size));
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_idx_images(p); });
  fuzz::read_or_refuse(path, [](const auto& p) { io::read_idx_pair(three_images(), p); });
  for (const bool hundred : {false, true})
    fuzz::read_or_refuse(path, [&](const auto& p) { io::read_cifar({p}, hundred); });
  return 0;
}

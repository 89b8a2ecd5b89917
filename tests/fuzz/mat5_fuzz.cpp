// SPDX-License-Identifier: MIT
// MATLAB 5 files that our own look lets through: what matio makes of them and what we make of that.
// The bytes say what stands in a file that is whole, as matio itself runs in a child process.
#include <zlib.h>

#include "input_file.hpp"
#include "io/variable_format.hpp"

using namespace udv;
using fuzz::Source;

namespace {

void put_word(std::string& bytes, std::uint32_t word) {
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

// An element of this type, padded to eight bytes.
void put_element(std::string& bytes, std::uint32_t type, const std::string& data) {
  put_word(bytes, type);
  put_word(bytes, static_cast<std::uint32_t>(data.size()));
  bytes += data;
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
}

constexpr unsigned kStored[] = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13};  // miINT8 to miUINT64
constexpr std::size_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 8, 8, 8};

std::string matrix(Source& source) {
  const unsigned array_class = source.byte() % 18, flags = source.byte() & 0x0F;
  std::string array, element;
  put_word(element, array_class | flags << 8);
  put_word(element, 0);
  put_element(array, 6, element);
  element.clear();
  std::size_t count = 1;
  const unsigned axes = 2 + source.byte() % 3;
  for (unsigned k = 0; k < axes; ++k) {
    const unsigned size = source.byte() % 6;
    put_word(element, size);
    count *= size;
  }
  put_element(array, 5, element);
  put_element(array, 1,
              std::string(source.byte() % 3, static_cast<char>('a' + source.byte() % 26)));
  for (unsigned part = 0; part < 1 + (flags >> 3 & 1); ++part) {
    const unsigned kind = source.byte() % std::size(kStored);
    const std::size_t size = count * kWidths[kind] + (source.byte() == 255 ? 1 : 0);
    element.clear();
    while (element.size() < size) element += static_cast<char>(source.byte());
    put_element(array, kStored[kind], element);
  }
  std::string whole;
  put_element(whole, 14, array);
  return whole;
}

std::string packed(const std::string& element) {
  std::string bytes(compressBound(element.size()), '\0');
  uLongf size = bytes.size();
  compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
           reinterpret_cast<const Bytef*>(element.data()), element.size());
  std::string whole;
  put_word(whole, 15);
  put_word(whole, static_cast<std::uint32_t>(size));
  return whole + bytes.substr(0, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.mat");
  Source source(data, size);
  std::string bytes = "MATLAB 5.0 MAT-file";
  bytes.resize(124, ' ');
  bytes += std::string("\0\1IM", 4);
  for (int i = 0; i < 4 && !source.done(); ++i) {
    const bool is_packed = source.byte() % 4 == 0;
    const std::string element = matrix(source);
    bytes += is_packed ? packed(element) : element;
  }
  fuzz::read_or_refuse(file.write(bytes), [](const auto& path) {
    const io::detail::VariableFormat& format = io::detail::kMat5Format;
    for (const io::Variable& variable : format.list(path)) {
      if (!variable.is_numeric) continue;
      format.read(path, variable);
      for (int axis = 0; axis < static_cast<int>(variable.shape.size()); ++axis)
        format.read_slices(path, variable,
                           {axis, 0, variable.shape[static_cast<std::size_t>(axis)]});
    }
  });
  return 0;
}

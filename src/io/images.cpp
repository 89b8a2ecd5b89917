// SPDX-License-Identifier: MIT
#include "udv/io/images.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace {

constexpr std::size_t kUnsignedBytes = 0x08;
constexpr std::size_t kCifarPixels = 3 * 32 * 32;

std::uint8_t byte_at(const std::string& bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

Index big_endian(const std::string& bytes, std::size_t at) {
  Index value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(bytes, at + i);
  return value;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  IdxArray array;
  array.bytes = read_bytes(path);
  const std::string name = path.string();
  const std::string& bytes = array.bytes;
  require<IoError>(bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0, name,
                   ": no IDX file (two zero bytes, a type and a number of dimensions expected)");
  require<IoError>(byte_at(bytes, 2) == kUnsignedBytes, name, ": type ",
                   static_cast<int>(byte_at(bytes, 2)), " found, 8 (unsigned bytes) expected");
  const std::size_t dimensions = byte_at(bytes, 3), header = 4 + 4 * dimensions;
  require<IoError>(dimensions > 0 && bytes.size() >= header, name, ": ends within its header");
  std::size_t expected = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    array.shape.push_back(big_endian(bytes, 4 + 4 * d));
    const auto size = static_cast<std::size_t>(array.shape.back());
    require<IoError>(size == 0 || expected <= bytes.size() / size, name, ": shape ",
                     shape_text(array.shape), " announced, ", bytes.size() - header,
                     " bytes of data found");
    expected *= size;
  }
  require<IoError>(bytes.size() - header == expected, name, ": shape ", shape_text(array.shape),
                   " announced (", expected, " bytes), ", bytes.size() - header, " found");
  array.bytes.erase(0, header);
  return array;
}

LabelledImages read_idx_images(const std::filesystem::path& path) {
  IdxArray pictures = read_idx(path);
  require<IoError>(pictures.shape.size() >= 2 && pictures.shape[0] > 0, path.string(), ": shape ",
                   shape_text(pictures.shape), " found, images x pixels expected");
  LabelledImages result;
  result.count = pictures.shape[0];
  result.pixels = static_cast<Index>(pictures.bytes.size()) / result.count;
  result.bytes = std::move(pictures.bytes);
  return result;
}

LabelledImages read_idx_pair(const std::filesystem::path& images,
                             const std::filesystem::path& labels) {
  LabelledImages result = read_idx_images(images);
  const IdxArray classes = read_idx(labels);
  require<IoError>(classes.shape.size() == 1, labels.string(), ": shape ",
                   shape_text(classes.shape), " found, a list of labels expected");
  require<IoError>(result.count == classes.shape[0], labels.string(), ": ", classes.shape[0],
                   " labels found, ", result.count, " expected, one for each image of ",
                   images.string());
  for (std::size_t i = 0; i < classes.bytes.size(); ++i)
    result.labels.push_back(byte_at(classes.bytes, i));
  result.classes = *std::max_element(result.labels.begin(), result.labels.end()) + 1;
  return result;
}

LabelledImages read_cifar(const std::vector<std::filesystem::path>& files, bool hundred) {
  const std::size_t header = hundred ? 2 : 1, record = header + kCifarPixels;
  LabelledImages result;
  result.pixels = static_cast<Index>(kCifarPixels);
  result.classes = hundred ? 100 : 10;
  for (const auto& path : files) {
    const std::string bytes = read_bytes(path);
    require<IoError>(!bytes.empty() && bytes.size() % record == 0, path.string(), ": ",
                     bytes.size(), " bytes found, a multiple of ", record, " expected");
    for (std::size_t at = 0; at < bytes.size(); at += record) {
      const std::int32_t label = byte_at(bytes, at + header - 1);
      require<IoError>(label < result.classes, path.string(), ": label ", label, " in record ",
                       at / record + 1, " found, 0 to ", result.classes - 1, " expected");
      result.labels.push_back(label);
      result.bytes.append(bytes, at + header, kCifarPixels);
    }
  }
  result.count = static_cast<Index>(result.labels.size());
  return result;
}

}  // namespace udv::io

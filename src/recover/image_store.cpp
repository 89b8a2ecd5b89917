// SPDX-License-Identifier: MIT
#include "udv/recover/image_store.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/hash.hpp"
#include "core/require.hpp"

namespace udv {

ImageStore::ImageStore(Index rows, Index cols, ImageKind kind, const std::filesystem::path& folder)
    : rows_(rows), cols_(cols), kind_(kind), hash_(kHashStart) {
  require(rows > 0 && cols > 0, "ImageStore: images of ", rows, " x ", cols,
          " pixels, 1 or more expected");
  std::error_code missing;
  folder_ = (folder.empty() ? std::filesystem::temp_directory_path(missing) : folder).string();
  require<IoError>(!missing, "no folder for temporary files: ", missing.message(),
                   " (TMPDIR names one)");
  std::string name = folder_ + "/udv-images-XXXXXX";
  file_ = ::mkstemp(name.data());
  require<IoError>(file_ >= 0, folder_,
                   ": no temporary file can be made there: ", std::strerror(errno));
  ::unlink(name.c_str());
}

ImageStore::~ImageStore() {
  ::close(file_);
}

void ImageStore::append(std::span<const double> pixels) {
  require(static_cast<Index>(pixels.size()) == rows_ * cols_, "ImageStore: ", pixels.size(),
          " pixels, ", rows_ * cols_, " expected");
  const std::vector<float> numbers(pixels.begin(), pixels.end());
  const auto* at = reinterpret_cast<const char*>(numbers.data());
  std::size_t left = numbers.size() * sizeof(float);
  hash_ = array_hash(at, left, hash_);
  while (left > 0) {
    const ssize_t count = ::write(file_, at, left);
    if (count < 0 && errno == EINTR) continue;
    require<IoError>(count > 0, folder_, ": image ", images_ + 1, " of a large field: ", left,
                     " bytes more needed there, cannot be written: ", std::strerror(errno),
                     " (TMPDIR names another folder)");
    at += count;
    left -= static_cast<std::size_t>(count);
  }
  ++images_;
}

ImageStack ImageStore::part(const Tile& tile) const {
  return read(0, images_, tile);
}

ImageStack ImageStore::image(Index number) const {
  return read(number, 1, {0, 0, rows_, cols_});
}

ImageStack ImageStore::read(Index first, Index count, const Tile& tile) const {
  require(tile.row >= 0 && tile.col >= 0 && tile.row + tile.rows <= rows_ &&
              tile.col + tile.cols <= cols_ && first >= 0 && first + count <= images_,
          "ImageStore: a tile outside of the images");
  ImageStack stack{count, tile.rows, tile.cols, kind_, {}};
  stack.values.reserve(static_cast<std::size_t>(count * tile.rows * tile.cols));
  std::vector<float> line(static_cast<std::size_t>(tile.cols));
  const std::size_t bytes = line.size() * sizeof(float);
  for (Index l = first; l < first + count; ++l)
    for (Index r = tile.row; r < tile.row + tile.rows; ++r) {
      const Index at = ((l * rows_ + r) * cols_ + tile.col) * static_cast<Index>(sizeof(float));
      const ssize_t read = ::pread(file_, line.data(), bytes, at);
      require<IoError>(read == static_cast<ssize_t>(bytes), folder_,
                       ": images of a large field cannot be read back: ", std::strerror(errno));
      stack.values.insert(stack.values.end(), line.begin(), line.end());
    }
  return stack;
}

}  // namespace udv

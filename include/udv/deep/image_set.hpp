// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/options.hpp"
#include "udv/core/types.hpp"

namespace udv::deep {

/// Pictures of one size with their labels, in memory.
struct ImageSet {
  Index count = 0, channels = 0, height = 0, width = 0;
  std::string bytes;                 ///< count x channels x height x width, 0 to 255
  std::vector<std::int32_t> labels;  ///< 0 .. classes - 1
  Index classes = 0;

  Index pixels() const { return channels * height * width; }
  /// The first so many pictures; all where there are fewer or the number is 0.
  void limit(Index most);
};

struct ImageData {
  ImageSet training, test;
  std::vector<std::string> class_names;  ///< where the folders have names

  /// Of all bytes and labels: other pictures, another hash.
  std::uint64_t content_hash() const;
};

struct ImageOptions {
  Index size = 224;  ///< of pictures from folders: shorter side, then the middle of the longer
  double test_share = 0.2;  ///< where the data have no test part of their own
  std::uint64_t split_seed = 0;
};
void describe(OptionTable& table, ImageOptions& options);

/// Reads
///   a folder of MNIST or CIFAR files, with both parts
///   an IDX file of images or a CIFAR .bin: a share of it is the test part
///   a folder with one sub-folder per class, PNG and JPEG in them; or with sub-folders train and
///   test (or val) of that kind
/// Throws IoError naming folder or picture.
ImageData read_images(const std::filesystem::path& path, const ImageOptions& options);

}  // namespace udv::deep

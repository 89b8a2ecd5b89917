// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// Unsigned bytes of an IDX file, row-major.
struct IdxArray {
  std::vector<Index> shape;
  std::string bytes;
};

/// IDX as MNIST has it: 00 00 08 and the number of dimensions, their sizes (big-endian), the bytes.
/// .gz too. Throws IoError naming the path: another type, more or fewer bytes than announced.
UDV_EXPORT IdxArray read_idx(const std::filesystem::path& path);

/// Images of one size with their labels.
struct LabelledImages {
  Index count = 0, pixels = 0;  ///< pixels: numbers of one image, all colours
  std::string bytes;            ///< count x pixels
  std::vector<std::int32_t> labels;
  Index classes = 0;
};

/// CIFAR's binary records: one label (CIFAR-10) or a coarse and a fine one (CIFAR-100, the fine one
/// counts), then 3 x 32 x 32 bytes. Throws IoError naming the path: a size that is no multiple of a
/// record, a label out of range.
UDV_EXPORT LabelledImages read_cifar(const std::vector<std::filesystem::path>& files, bool hundred);

/// Images of an IDX file, without labels.
UDV_EXPORT LabelledImages read_idx_images(const std::filesystem::path& path);
/// A pair of IDX files. Throws IoError where their counts differ.
UDV_EXPORT LabelledImages read_idx_pair(const std::filesystem::path& images,
                                        const std::filesystem::path& labels);

}  // namespace udv::io

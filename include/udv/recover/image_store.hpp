// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "udv/core/export.hpp"
#include "udv/recover/ptychography_data.hpp"
#include "udv/recover/tiles.hpp"

namespace udv {

/// Images of a field that is larger than memory, as single precision numbers in a file without a
/// name: it ends with its owner, also where the process is killed. Filled once, image by image;
/// then any number of threads cut tiles out of it.
class UDV_EXPORT ImageStore {
 public:
  /// In the folder for temporary files ($TMPDIR), or in `folder`. Throws IoError where no file can
  /// be made there.
  ImageStore(Index rows, Index cols, ImageKind kind, const std::filesystem::path& folder = {});
  ~ImageStore();
  ImageStore(const ImageStore&) = delete;
  ImageStore& operator=(const ImageStore&) = delete;

  /// The next image, row by row. Throws IoError where the disk is full, with the missing bytes.
  void append(std::span<const double> pixels);

  Index images() const { return images_; }
  std::uint64_t hash() const { return hash_; }  ///< of all numbers

  /// A part of all images. Throws IoError where the file cannot be read back.
  ImageStack part(const Tile& tile) const;
  /// One image as a whole.
  ImageStack image(Index number) const;

 private:
  ImageStack read(Index first, Index count, const Tile& tile) const;

  Index rows_, cols_;
  ImageKind kind_;
  std::string folder_;
  int file_ = -1;
  Index images_ = 0;
  std::uint64_t hash_;
};

}  // namespace udv

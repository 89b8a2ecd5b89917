// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "udv/deep/image_set.hpp"

namespace udv::deep {

struct BatchOptions {
  torch::Device device = torch::kCPU;
  torch::Dtype type = torch::kFloat32;
  Index channels = 3;  ///< gray pictures are repeated
  Index size = 0;      ///< 0: as they are
  bool flip = false;
  Index crop = 0;
  bool channels_last = false;
};

/// Pictures on their device as bytes; batches of them, moved, mirrored and resized there. What
/// happens to a picture depends on seed and epoch alone.
class ImageBatches {
 public:
  ImageBatches(const ImageSet& set, const BatchOptions& options);

  Index size() const { return count_; }
  const torch::Tensor& labels() const { return labels_; }

  /// A new order and new augmentations.
  void start_epoch(std::uint64_t seed, Index epoch);
  /// Pictures begin .. end - 1 of the epoch's order, with their labels.
  std::pair<torch::Tensor, torch::Tensor> training(Index begin, Index end) const;
  /// Pictures begin .. end - 1 as they are.
  torch::Tensor plain(Index begin, Index end) const;

 private:
  torch::Tensor finish(torch::Tensor pictures) const;

  BatchOptions options_;
  Index count_;
  torch::Tensor pictures_, labels_, order_, rows_, columns_, mirrored_;
};

}  // namespace udv::deep

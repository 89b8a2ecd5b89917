// SPDX-License-Identifier: MIT
#include "deep/image_batches.hpp"

#include "udv/core/random.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

constexpr std::uint64_t kStreamAugmentation = 10;

Tensor numbers(const std::vector<std::int64_t>& values, torch::Device device) {
  return torch::tensor(values, torch::kLong).to(device);
}

}  // namespace

ImageBatches::ImageBatches(const ImageSet& set, const BatchOptions& options)
    : options_(options), count_(set.count) {
  pictures_ = torch::from_blob(const_cast<char*>(set.bytes.data()),
                               {set.count, set.channels, set.height, set.width}, torch::kUInt8);
  labels_ =
      torch::from_blob(const_cast<std::int32_t*>(set.labels.data()), {set.count}, torch::kInt32)
          .to(options.device, torch::kLong);
  if (options.device.is_cuda()) pictures_ = pictures_.to(options.device);
}

void ImageBatches::start_epoch(std::uint64_t seed, Index epoch) {
  const auto streams = 16 * static_cast<std::uint64_t>(epoch);
  const auto order = Random(seed, kStreamBatches + streams).permutation(count_);
  order_ = numbers({order.begin(), order.end()}, options_.device);
  Random random(seed, kStreamAugmentation + streams);
  std::vector<std::int64_t> rows, columns, mirrored;
  for (Index i = 0; i < count_; ++i) {
    rows.push_back(options_.crop > 0 ? random.below(2 * options_.crop + 1) : 0);
    columns.push_back(options_.crop > 0 ? random.below(2 * options_.crop + 1) : 0);
    mirrored.push_back(options_.flip ? random.below(2) : 0);
  }
  rows_ = numbers(rows, options_.device);
  columns_ = numbers(columns, options_.device);
  mirrored_ = numbers(mirrored, options_.device);
}

Tensor ImageBatches::finish(Tensor x) const {
  x = x.to(torch::kFloat32).div_(255);
  if (x.size(1) != options_.channels) x = x.expand({-1, options_.channels, -1, -1});
  if (options_.size > 0 && (x.size(2) != options_.size || x.size(3) != options_.size))
    x = at::upsample_bilinear2d(x, {options_.size, options_.size}, false);
  if (options_.channels_last) x = x.contiguous(at::MemoryFormat::ChannelsLast);
  return x.to(options_.type);
}

std::pair<Tensor, Tensor> ImageBatches::training(Index begin, Index end) const {
  const Tensor picked = order_.slice(0, begin, end);
  const Tensor labels = labels_.index_select(0, picked);
  Tensor x = pictures_.index_select(0, picked);
  if (options_.crop == 0 && !options_.flip) return {finish(x), labels};
  const Index height = x.size(2), width = x.size(3), pad = options_.crop;
  if (pad > 0) x = at::constant_pad_nd(x, {pad, pad, pad, pad});
  const auto longs = torch::TensorOptions(torch::kLong).device(options_.device);
  const Tensor across = torch::arange(width, longs);
  const Tensor flip = mirrored_.index_select(0, picked).unsqueeze(1);
  // Pixel j of a mirrored picture is pixel width - 1 - j.
  const Tensor columns = columns_.index_select(0, picked).unsqueeze(1) + (1 - flip) * across +
                         flip * (width - 1 - across);
  const Tensor rows = rows_.index_select(0, picked).unsqueeze(1) + torch::arange(height, longs);
  const Tensor batch = torch::arange(x.size(0), longs);
  // Indices on both sides of a slice: its dimension comes last.
  x = x.index(
      {batch.index({Slice(), None, None}), Slice(), rows.unsqueeze(2), columns.unsqueeze(1)});
  return {finish(x.permute({0, 3, 1, 2})), labels};
}

Tensor ImageBatches::plain(Index begin, Index end) const {
  return finish(pictures_.slice(0, begin, end).to(options_.device));
}

}  // namespace udv::deep

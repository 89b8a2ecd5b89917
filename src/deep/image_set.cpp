// SPDX-License-Identifier: MIT
#include "udv/deep/image_set.hpp"

#include "core/hash.hpp"

namespace udv::deep {

void ImageSet::limit(Index most) {
  if (most <= 0 || most >= count) return;
  count = most;
  bytes.resize(static_cast<size_t>(count * pixels()));
  labels.resize(static_cast<size_t>(count));
}

std::uint64_t ImageData::content_hash() const {
  std::uint64_t hash = kHashStart;
  for (const ImageSet* part : {&training, &test}) {
    hash = array_hash(part->bytes.data(), part->bytes.size(), hash);
    hash = array_hash(part->labels.data(), part->labels.size() * sizeof(std::int32_t), hash);
  }
  return hash;
}

}  // namespace udv::deep

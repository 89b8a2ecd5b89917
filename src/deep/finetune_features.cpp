// SPDX-License-Identifier: MIT
#include "deep/finetune_features.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "deep/progress.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr Index kPiece = 1024;  // pictures in one file of features

RowMatrix<float> read_piece(const fs::path& path, Index rows, Index cols) {
  const io::Array array = io::read_npy(path);
  require<IoError>(array.shape == std::vector<Index>{rows, cols}, path.string(),
                   ": features of shape ", io::shape_text(array.shape), " found; remove this file");
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), rows, cols).cast<float>();
}

net::Dataset<float> empty_dataset(const deep::ImageSet& set, Index features) {
  net::Dataset<float> result;
  result.task = net::Task::kClassification;
  result.classes = set.classes;
  result.labels = set.labels;
  result.X.resize(set.count, features);
  return result;
}

}  // namespace

std::uint64_t file_hash(const std::string& path) {
  if (path.empty()) return 0;
  const std::string bytes = io::read_bytes(path);
  return array_hash(bytes.data(), bytes.size());
}

FeatureCache::FeatureCache(std::string folder, const deep::FinetuneOptions& options,
                           Session& session)
    : folder_(std::move(folder)),
      options_(options),
      session_(session),
      backbone_hash_(file_hash(options.backbone)) {
  io::make_folder(folder_);
}

// Which backbone made features of which pictures at which size.
std::string FeatureCache::key_of(const deep::ImageSet& set) const {
  const std::uint64_t hash = array_hash(set.bytes.data(), set.bytes.size(), backbone_hash_);
  return fmt::format("{:016x}",
                     fnv_hash(message(options_.image_size, " ", options_.placement.precision, " ",
                                      options_.placement.device),
                              hash));
}

fs::path FeatureCache::piece_path(const std::string& key, Index number) const {
  return folder_ / fmt::format("{}-{:05}.npy", key, number);
}

RowMatrix<float> FeatureCache::piece(const fs::path& path, deep::Finetuner& tuner,
                                     const deep::ImageSet& set, Index begin, Index count) const {
  if (fs::exists(path)) return read_piece(path, count, tuner.num_features());
  RowMatrix<float> features = tuner.features(set, begin, count);
  require<IoError>(features.allFinite(), options_.backbone, ": a feature is not finite");
  io::write_npy(path, features);
  return features;
}

std::optional<net::Dataset<float>> FeatureCache::features(deep::Finetuner& tuner,
                                                          const deep::ImageSet& set) {
  const std::string key = key_of(set);
  net::Dataset<float> result = empty_dataset(set, tuner.num_features());
  Progress progress(session_, {set.count}, {"images", "features", "width"});
  for (Index begin = 0; begin < set.count; begin += kPiece) {
    if (session_.interrupted()) return std::nullopt;
    const Index count = std::min(kPiece, set.count - begin);
    result.X.middleRows(begin, count) =
        piece(piece_path(key, begin / kPiece), tuner, set, begin, count);
    IterationRecord record;
    record.iteration = begin + count;
    record.rank = tuner.num_features();
    progress.show(record);
  }
  return result;
}

}  // namespace udv::jobs

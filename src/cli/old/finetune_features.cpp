// SPDX-License-Identifier: MIT
#include "cli/finetune_features.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "core/hash.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::cli {

std::uint64_t file_hash(const std::string& path) {
  if (path.empty()) return 0;
  const std::string bytes = io::read_bytes(path);
  return array_hash(bytes.data(), bytes.size());
}

namespace {

namespace fs = std::filesystem;

constexpr Index kCachePart = 1024;  // pictures in one file of features

// Which backbone made features of which pictures at which size.
std::string feature_key(const deep::FinetuneOptions& options, const deep::ImageSet& set) {
  std::uint64_t hash = file_hash(options.backbone);
  hash = array_hash(set.bytes.data(), set.bytes.size(), hash);
  hash = fnv_hash(message(options.image_size, " ", options.precision, " ", options.device), hash);
  return fmt::format("{:016x}", hash);
}

RowMatrix<float> read_piece(const fs::path& path, Index rows, Index cols) {
  const io::Array array = io::read_npy(path);
  require<IoError>(array.shape == std::vector<Index>{rows, cols}, path.string(),
                   ": features of shape ", io::shape_text(array.shape), " found; remove this file");
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), rows, cols).cast<float>();
}

RowMatrix<float> make_piece(const fs::path& path, const std::string& backbone,
                            const RowMatrix<float>& features) {
  require<IoError>(features.allFinite(), backbone, ": a feature is not finite");
  io::write_npy(path, features);
  return features;
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

std::optional<net::Dataset<float>> cached_features(const FinetuneFlags& flags,
                                                   const deep::FinetuneOptions& options,
                                                   deep::Finetuner& tuner,
                                                   const deep::ImageSet& set) {
  const fs::path folder = flags.cache;
  io::make_folder(folder);
  const std::string key = feature_key(options, set);
  net::Dataset<float> result = empty_dataset(set, tuner.num_features());
  ProgressBar progress({set.count}, flags.common.quiet, {"images", "features", "width"});
  const auto started = std::chrono::steady_clock::now();
  for (Index begin = 0; begin < set.count; begin += kCachePart) {
    if (interrupted()) return std::nullopt;
    const Index count = std::min(kCachePart, set.count - begin);
    const fs::path path = folder / fmt::format("{}-{:05}.npy", key, begin / kCachePart);
    result.X.middleRows(begin, count) =
        fs::exists(path) ? read_piece(path, count, tuner.num_features())
                         : make_piece(path, options.backbone, tuner.features(set, begin, count));
    IterationRecord record;
    record.iteration = begin + count;
    record.rank = tuner.num_features();
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    progress.observer()(record);
  }
  return result;
}

}  // namespace udv::cli

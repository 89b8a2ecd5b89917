// SPDX-License-Identifier: MIT
#include "deep/finetune_features.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "deep/progress.hpp"
#include "deep/shared_session.hpp"
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
      processes_(options.placement.processes),
      backbone_hash_(file_hash(options.backbone)) {
  if (!processes_ || processes_->is_first()) io::make_folder(folder_);
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

// By what the first process has.
std::vector<Index> FeatureCache::missing_pieces(const std::string& key, Index count) const {
  std::string there;
  for (Index number = 0; number < count; ++number)
    there += fs::exists(piece_path(key, number)) ? '1' : '0';
  if (processes_) there = processes_->broadcast(there);
  std::vector<Index> missing;
  for (Index number = 0; number < count; ++number)
    if (there[static_cast<size_t>(number)] == '0') missing.push_back(number);
  return missing;
}

RowMatrix<float> FeatureCache::compute(deep::Finetuner& tuner, const deep::ImageSet& set,
                                       Index number) const {
  const Index begin = number * kPiece;
  RowMatrix<float> features = tuner.features(set, begin, std::min(kPiece, set.count - begin));
  require<IoError>(features.allFinite(), options_.backbone, ": a feature is not finite");
  return features;
}

// One piece for each process; the last round may have less.
void FeatureCache::compute_round(deep::Finetuner& tuner, const deep::ImageSet& set,
                                 const std::string& key, const std::vector<Index>& numbers) const {
  if (!processes_)
    return io::write_npy(piece_path(key, numbers[0]), compute(tuner, set, numbers[0]));
  const auto rank = static_cast<size_t>(processes_->rank());
  std::string own;
  processes_->run_on_all([&] {
    if (rank >= numbers.size()) return;
    const RowMatrix<float> features = compute(tuner, set, numbers[rank]);
    own.assign(reinterpret_cast<const char*>(features.data()),
               static_cast<size_t>(features.size()) * sizeof(float));
  });
  const std::vector<std::string> all = processes_->gather(own);
  if (!processes_->is_first()) return;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Index rows = std::min(kPiece, set.count - numbers[i] * kPiece);
    RowMatrix<float> features(rows, tuner.num_features());
    std::memcpy(features.data(), all[i].data(), all[i].size());
    io::write_npy(piece_path(key, numbers[i]), features);
  }
}

std::optional<net::Dataset<float>> FeatureCache::features(deep::Finetuner& tuner,
                                                          const deep::ImageSet& set) {
  const std::string key = key_of(set);
  const Index count = (set.count + kPiece - 1) / kPiece, width = tuner.num_features();
  const std::vector<Index> missing = missing_pieces(key, count);
  const size_t at_a_time = processes_ ? static_cast<size_t>(processes_->size()) : 1;
  Progress progress(session_, {set.count}, {"images", "features", "width"});
  for (size_t at = 0; at < missing.size(); at += at_a_time) {
    if (interrupted(session_, processes_)) return std::nullopt;
    const size_t end = std::min(missing.size(), at + at_a_time);
    compute_round(tuner, set, key,
                  {missing.begin() + static_cast<std::ptrdiff_t>(at),
                   missing.begin() + static_cast<std::ptrdiff_t>(end)});
    IterationRecord record;
    record.iteration =
        std::min(set.count, set.count - kPiece * static_cast<Index>(missing.size() - end));
    record.rank = width;
    progress.show(record);
  }
  net::Dataset<float> result = empty_dataset(set, width);
  if (processes_ && !processes_->is_first()) return result;
  for (Index number = 0; number < count; ++number) {
    const Index begin = number * kPiece, rows = std::min(kPiece, set.count - begin);
    result.X.middleRows(begin, rows) = read_piece(piece_path(key, number), rows, width);
  }
  return result;
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "udv/deep/finetune.hpp"
#include "udv/deep/processes.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// Of all bytes of a file; 0 where no file is given.
std::uint64_t file_hash(const std::string& path);

/// The features that a frozen backbone makes of pictures, in pieces that are kept in a folder and
/// not computed again. Several processes each compute some pieces; the first one keeps them and has
/// the result. Nothing where the session is interrupted.
class FeatureCache {
 public:
  FeatureCache(std::string folder, const deep::FinetuneOptions& options, Session& session);

  std::optional<net::Dataset<float>> features(deep::Finetuner& tuner, const deep::ImageSet& set);

 private:
  std::filesystem::path piece_path(const std::string& key, Index number) const;
  std::vector<Index> missing_pieces(const std::string& key, Index count) const;
  RowMatrix<float> compute(deep::Finetuner& tuner, const deep::ImageSet& set, Index number) const;
  void compute_round(deep::Finetuner& tuner, const deep::ImageSet& set, const std::string& key,
                     const std::vector<Index>& numbers) const;
  std::string key_of(const deep::ImageSet& set) const;

  std::filesystem::path folder_;
  const deep::FinetuneOptions& options_;
  Session& session_;
  std::shared_ptr<deep::Processes> processes_;
  std::uint64_t backbone_hash_;
};

}  // namespace udv::jobs

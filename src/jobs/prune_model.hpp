// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "udv/jobs/prune.hpp"

namespace udv::jobs {

/// A network to prune, and what stands around it.
struct ModelToPrune {
  std::string name;  ///< in error messages
  const net::Model<float>& model;
  const std::optional<net::PruneParts<float>>& parts;
  std::optional<net::Model<float>> compared;
  std::string compared_name;
  std::optional<net::NetworkFile> network;  ///< that stands before it, with its blocks pruned
  std::vector<net::PrunedBlock> blocks;
};

/// Everything but reading and the check of options. `settings` decide the numbers.
PruneResult prune_model(ModelToPrune what, const PruneOptions& options,
                        std::map<std::string, Setting> config, const std::string& settings,
                        Session& session);

}  // namespace udv::jobs

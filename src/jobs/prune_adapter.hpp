// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/jobs/prune.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {

struct AdapterToPrune {
  std::string name;  ///< its path; stands in error messages
  net::Adapter adapter;
  net::AdapterKind kind = net::AdapterKind::kNative;
  net::Calibration calibration;  ///< may be empty
};

/// Every block of an adapter by its truncated SVD: the adapter in its own format, pruning.csv (what
/// other energies would leave), ranks.csv and run.json.
PruneResult prune_adapter(const AdapterToPrune& what, const PruneOptions& options,
                          std::map<std::string, Setting> config, const std::string& settings,
                          Session& session);

}  // namespace udv::jobs

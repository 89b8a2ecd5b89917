// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/jobs/prune.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {

/// Every block of an adapter by its truncated SVD: the adapter in the format `kind`, pruning.csv
/// (what other energies would leave), ranks.csv and run.json. `name` stands in error messages.
PruneResult prune_adapter(const std::string& name, const net::Adapter& adapter,
                          net::AdapterKind kind, const PruneOptions& options,
                          std::map<std::string, Setting> config, const std::string& settings,
                          Session& session);

}  // namespace udv::jobs

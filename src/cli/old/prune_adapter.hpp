// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common.hpp"
#include "cli/exit_code.hpp"

namespace udv::cli {

/// One of rank, ratio and energy; the first that is above 0.
struct AdapterBudget {
  Index rank = 0;    ///< of every block, at most
  double ratio = 0;  ///< parameters after / before, at most
  double energy = 0.99;
  bool compact = false;  ///< PEFT: own ranks instead of zeros
};

/// Every block of a native or PEFT adapter by its truncated SVD. Writes the adapter as it was read,
/// pruning.csv (what other energies would leave), ranks.csv and run.json.
ExitCode prune_adapter(const std::string& path, const AdapterBudget& budget,
                       const CommonFlags& common);

}  // namespace udv::cli

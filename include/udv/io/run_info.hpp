// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/options.hpp"

namespace udv::io {

/// What run.json says besides the answer.
struct RunInfo {
  std::string command = "recover";
  std::map<std::string, Setting> config;
  std::uint64_t seed = 0;
  int index_base = 0;                    ///< how the input counts rows and columns
  std::optional<double> relative_error;  ///< where the truth is known
  std::vector<std::string> warnings;
  std::map<std::string, Setting> figures;             ///< more results, at the top level
  std::map<std::string, std::vector<Setting>> lists;  ///< and lists of such
};

}  // namespace udv::io

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "udv/recover/solver/recovery.hpp"

namespace udv::io {

/// One setting as used, for run.json.
using Setting = std::variant<bool, std::int64_t, double, std::string>;

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

/// Writes run.json, U.npy, d.npy, V.npy (rectangular), history.csv and columns.npz (gradient runs)
/// into the folder, which is made where missing. run.json comes last: where it is, all is.
/// Throws IoError naming the path.
template <typename Scalar>
void write_run(const std::filesystem::path& folder, const BasicRecovery<Scalar>& recovery,
               const RunInfo& info = {});

/// history.csv as text: iteration, seconds, objective, rank, norm_U, max_d, step.
std::string history_csv(const std::vector<IterationRecord>& history);

}  // namespace udv::io

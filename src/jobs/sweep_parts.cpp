// SPDX-License-Identifier: MIT
#include "jobs/sweep_parts.hpp"

#include <algorithm>

#include "core/require.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

// Where two machines have trained the same run, the same numbers are expected; seconds may differ.
bool same_result(const net::SweepRow& a, const net::SweepRow& b) {
  const auto equal = [](double x, double y) { return x == y || (x != x && y != y); };
  return a.status == b.status && equal(a.test_loss, b.test_loss) &&
         equal(a.last_train_loss, b.last_train_loss) && a.test_accuracy == b.test_accuracy;
}

}  // namespace

std::string folder_of(const Part& part) {
  return part.is_all() ? "" : message("part-", part.number, "-of-", part.count);
}

std::vector<net::SweepCell> cells_of(const Part& part, const std::vector<net::SweepCell>& all) {
  std::vector<net::SweepCell> own;
  for (size_t i = 0; i < all.size(); ++i)
    if (part.has(i)) own.push_back(all[i]);
  return own;
}

void FinishedRuns::add(const fs::path& folder, const std::string& settings) {
  for (const net::SweepRow& row : net::read_sweep(folder / kSweepResults)) {
    if (row.settings != net::settings_key(settings)) continue;
    const auto [known, is_new] = rows.emplace(row.key, row);
    if (is_new) folders.emplace(row.key, folder);
    require<IoError>(same_result(known->second, row), (folder / kSweepResults).string(), ": run ",
                     row.key, " has another result than in ",
                     (folders.at(row.key) / kSweepResults).string());
  }
}

std::vector<std::string> part_folders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("part-") && entry.is_directory(none)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> result_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const std::string& name : part_folders(folder))
    if (fs::exists(folder / name / kSweepResults)) found.push_back(folder / name);
  if (fs::exists(folder / kSweepResults)) found.push_back(folder);
  return found;
}

}  // namespace udv::jobs

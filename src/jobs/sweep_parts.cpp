// SPDX-License-Identifier: MIT
#include "jobs/sweep_parts.hpp"

#include <algorithm>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr Index kMostParts = 1'000'000;

// Where two machines have trained the same run, the same numbers are expected; seconds may differ.
bool same_result(const net::SweepRow& a, const net::SweepRow& b) {
  const auto equal = [](double x, double y) { return x == y || (x != x && y != y); };
  return a.status == b.status && equal(a.test_loss, b.test_loss) &&
         equal(a.last_train_loss, b.last_train_loss) && a.test_accuracy == b.test_accuracy;
}

}  // namespace

std::string SweepPart::folder() const {
  return is_all() ? "" : message("part-", number, "-of-", count);
}

std::vector<net::SweepCell> SweepPart::cells_of(const std::vector<net::SweepCell>& all) const {
  std::vector<net::SweepCell> own;
  for (auto i = static_cast<size_t>(number - 1); i < all.size(); i += static_cast<size_t>(count))
    own.push_back(all[i]);
  return own;
}

SweepPart sweep_part(const std::string& text) {
  SweepPart part;
  if (text.empty()) return part;
  const size_t slash = text.find('/');
  const bool read = slash != text.npos && parse_all(text.substr(0, slash), part.number) &&
                    parse_all(text.substr(slash + 1), part.count);
  if (!read || part.count < 1 || part.count > kMostParts || part.number < 1 ||
      part.number > part.count)
    throw OptionError("part", "'" + text + "' found, I/N with I from 1 to N expected");
  return part;
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

std::vector<fs::path> result_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with("part-") &&
        fs::exists(entry.path() / kSweepResults))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  if (fs::exists(folder / kSweepResults)) found.push_back(folder);
  return found;
}

}  // namespace udv::jobs

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv {

std::string settings_text(const std::map<std::string, Setting>& config) {
  std::string text;
  for (const auto& each : config)
    std::visit(
        [&](const auto& value) {
          text += message(text.empty() ? "" : "; ", each.first, " ", value);
        },
        each.second);
  return text;
}

namespace {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string nearest;
  size_t least = name.size() / 3 + 2;  // further away is another word
  for (const std::string& candidate : known) {
    if (candidate.empty() || name.size() > 64) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::vector<std::string> comma_words(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) words.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

}  // namespace udv

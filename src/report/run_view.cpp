// SPDX-License-Identifier: MIT
#include "run_view.hpp"

#include <cmath>
#include <set>

#include "thinning.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;

std::set<std::size_t> as_set(const std::vector<std::size_t>& list) {
  return {list.begin(), list.end()};
}

// Rows in which some column has an extreme of its neighbourhood, on either scale of time.
NumberTable thinned_rows(const NumberTable& table, const std::string& time) {
  constexpr std::size_t kBuckets = 130;
  const std::vector<double>& x = table.at(time);
  std::set<std::size_t> rows;
  for (const auto& [name, values] : table)
    for (const bool log_x : {true, false}) rows.merge(as_set(thinned(x, values, kBuckets, log_x)));
  NumberTable few;
  for (const auto& [name, values] : table)
    for (const std::size_t row : rows) few[name].push_back(values[row]);
  return few;
}

NumberTable thinned_history(const RunView& view) {
  const NumberTable history = view.full_history();
  const bool is_live = view.run.empty() || !view.has("history.csv");
  if (is_live) return history;  // thin already
  for (const char* time : {"iteration", "epoch"})
    if (history.contains(time)) return thinned_rows(history, time);
  return {};
}

}  // namespace

RunView read_run(const fs::path& folder, std::string name) {
  RunView view{jobs::read_run_folder(folder), std::move(name), {}};
  view.history = thinned_history(view);
  return view;
}

std::vector<jobs::FoundRun> find_folders(const std::vector<fs::path>& folders) {
  std::vector<jobs::FoundRun> runs;
  for (const fs::path& folder : folders)
    for (jobs::FoundRun& found : jobs::find_run_folders(folder)) runs.push_back(std::move(found));
  return runs;
}

std::string RunView::text(const char* key) const {
  const auto at = run.find(key);
  return at != run.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<double> RunView::number(const char* key) const {
  const auto at = run.find(key);
  if (at == run.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

std::vector<double> RunView::numbers(const char* key) const {
  std::vector<double> values;
  const auto at = run.find(key);
  if (at == run.end() || !at->is_array()) return values;
  for (const Json& value : *at) values.push_back(value.is_number() ? value.get<double>() : NAN);
  return values;
}

bool RunView::classical() const {
  for (const std::string& name : {text("method"), text("variant")})
    if (name == "bm" || name == "uv" || name == "UV" || name == "UV-ReLU" || name == "single" ||
        name == "lora")
      return true;
  return false;
}

}  // namespace udv::report

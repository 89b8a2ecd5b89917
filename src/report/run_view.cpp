// SPDX-License-Identifier: MIT
#include "run_view.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "io/run_json.hpp"
#include "thinning.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/io/text_table.hpp"

namespace udv::report {
namespace {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) {
  for (const char* name : {"run.json", "live.json", "results.csv"})
    if (fs::exists(folder / name)) return true;
  return false;
}

constexpr int kLevels = 3;

void collect(const fs::path& folder, const std::string& name, int level,
             std::vector<RunView>& runs) {
  if (is_run(folder)) {
    runs.push_back(read_run(folder, name));
    return;
  }
  if (level == kLevels) return;
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) inside.push_back(entry.path());
  std::sort(inside.begin(), inside.end());
  for (const fs::path& path : inside) {
    const std::string own = path.filename().string();
    collect(path, level == 0 ? own : name + "/" + own, level + 1, runs);
  }
}

std::set<std::size_t> as_set(const std::vector<std::size_t>& list) {
  return {list.begin(), list.end()};
}

// "runs" for "./runs/" and the name of the folder itself for ".".
std::string name_of(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole.filename().string();
}

}  // namespace

namespace {

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

NumberTable live_history(const Json& live) {
  NumberTable table;
  if (!live.is_object() || !live.contains("history") || !live["history"].is_object()) return table;
  for (const auto& [name, values] : live["history"].items())
    for (const Json& value : values)
      table[name].push_back(value.is_number() ? value.get<double>() : NAN);
  for (const auto& [name, values] : table)
    if (values.size() != table.begin()->second.size()) return {};
  return table;
}

NumberTable read_history(const RunView& view) {
  const fs::path path = view.folder / "history.csv";
  if (view.run.empty() || !fs::exists(path)) return live_history(view.live);
  const NumberTable table = read_numbers(path);
  for (const char* time : {"iteration", "epoch"})
    if (table.contains(time)) return thinned_rows(table, time);
  return {};
}

}  // namespace

RunView read_run(const fs::path& folder, std::string name) {
  RunView view;
  view.folder = folder;
  view.name = std::move(name);
  view.run =
      fs::exists(folder / "run.json") ? io::detail::read_json(folder / "run.json") : Json::object();
  if (fs::exists(folder / "live.json")) view.live = io::detail::read_json(folder / "live.json");
  view.history = read_history(view);
  return view;
}

std::vector<RunView> find_runs(const std::vector<fs::path>& folders) {
  std::vector<RunView> runs;
  for (const fs::path& folder : folders) {
    require<IoError>(fs::is_directory(folder), folder.string(), ": a folder of runs expected");
    const std::size_t before = runs.size();
    collect(folder, name_of(folder), 0, runs);
    require<IoError>(runs.size() > before, folder.string(),
                     ": no run.json found in it or in the folders below");
  }
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

NumberTable read_numbers(const fs::path& csv) {
  NumberTable numbers;
  // A run that took no step has a history without lines.
  const std::string text = io::read_bytes(csv);
  if (text.find('\n') + 1 == text.size()) return numbers;
  const io::TextTable table(csv);
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    std::vector<double>& column = numbers[table.columns()[c]];
    column.reserve(static_cast<std::size_t>(table.rows()));
    for (Index r = 0; r < table.rows(); ++r) {
      double value = NAN;
      column.push_back(io::parse_number(table.field(r, static_cast<Index>(c)), value) ? value
                                                                                      : NAN);
    }
  }
  return numbers;
}

}  // namespace udv::report

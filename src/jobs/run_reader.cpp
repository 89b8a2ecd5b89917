// SPDX-License-Identifier: MIT
#include "jobs/run_reader.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "jobs/run_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 3;

// Runs before format 1 do not say their format and are read all the same.
Json read_run_json(const fs::path& path) {
  Json run = io::detail::read_json(path);
  const auto format = run.find("format");
  require<IoError>(format == run.end() || *format == kRunFormat, path.string(), ": format ",
                   format == run.end() ? "" : format->dump(), " found, ", kRunFormat, " expected");
  return run;
}

// Columns of different lengths are no table.
NumberTable history_of(const Json& live) {
  NumberTable table;
  if (!live.is_object() || !live.contains("history") || !live["history"].is_object()) return table;
  for (const auto& [name, values] : live["history"].items())
    for (const Json& value : values)
      table[name].push_back(value.is_number() ? value.get<double>() : NAN);
  for (const auto& [name, values] : table)
    if (values.size() != table.begin()->second.size()) return {};
  return table;
}

// Files of a run that is being written wait in such a folder.
bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

void collect(const fs::path& folder, const std::string& name, int level,
             std::vector<FoundRun>& runs) {
  if (is_run_folder(folder)) {
    runs.push_back({folder, name});
    return;
  }
  if (level == kLevels) return;
  std::vector<fs::path> inside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !is_hidden(entry.path())) inside.push_back(entry.path());
  std::sort(inside.begin(), inside.end());
  for (const fs::path& path : inside) {
    const std::string own = path.filename().string();
    collect(path, level == 0 ? own : name + "/" + own, level + 1, runs);
  }
}

// "runs" for "./runs/" and the name of the folder itself for ".".
std::string name_of(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole.filename().string();
}

}  // namespace

bool RunContents::has(const std::string& name) const {
  return fs::exists(file(name));
}

std::vector<std::string> RunContents::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

// The numbers of one column; NaN where a field is none. Counted are fields that are neither empty
// nor numbers of any kind, in columns that have numbers: others are columns of words.
struct NumberColumn {
  std::vector<double> values;
  Index bad = 0;
  std::string first;  // bad one
};

NumberColumn number_column(const io::TextTable& table, Index c) {
  NumberColumn column;
  bool has_numbers = false;
  column.values.reserve(static_cast<std::size_t>(table.rows()));
  for (Index r = 0; r < table.rows(); ++r) {
    const std::string_view field = table.field(r, c);
    double value = NAN;
    const bool good = io::parse_number(field, value);
    has_numbers = has_numbers || good;
    column.values.push_back(good ? value : NAN);
    if (good || field.empty() || io::is_number(field)) continue;
    if (column.bad++ == 0) column.first = table.where(r, c) + ": " + io::quoted(field);
  }
  if (!has_numbers) column.bad = 0;
  return column;
}

}  // namespace

NumberTable RunContents::columns(const std::string& csv) const {
  NumberTable numbers;
  // A run that took no step has a history without lines.
  const std::string text = io::read_bytes(file(csv));
  if (text.find('\n') + 1 == text.size()) return numbers;
  const io::TextTable lines = table(csv);
  Index bad = 0;
  std::string first;
  for (std::size_t c = 0; c < lines.columns().size(); ++c) {
    NumberColumn column = number_column(lines, static_cast<Index>(c));
    if (bad == 0) first = column.first;
    bad += column.bad;
    numbers[lines.columns()[c]] = std::move(column.values);
  }
  if (bad > 0)
    left_out.insert(message(first, " found, a number expected; ", bad,
                            bad == 1 ? " such field is" : " such fields are", " left out"));
  return numbers;
}

std::vector<std::pair<std::string, io::Array>> RunContents::arrays(const std::string& npz) const {
  return io::read_npz(file(npz));
}

NumberTable RunContents::full_history() const {
  return run.empty() || !has("history.csv") ? history_of(live) : columns("history.csv");
}

RunContents read_run_folder(const fs::path& folder) {
  RunFolder::complete(folder);
  RunContents contents;
  contents.folder = folder;
  contents.run = Json::object();
  if (contents.has(kRunFile)) contents.run = read_run_json(contents.file(kRunFile));
  if (contents.has("live.json")) contents.live = io::detail::read_json(contents.file("live.json"));
  return contents;
}

bool is_run_folder(const fs::path& folder) {
  RunFolder::complete(folder);
  for (const char* name : {kRunFile, "live.json", "results.csv"})
    if (fs::exists(folder / name)) return true;
  return false;
}

std::vector<FoundRun> find_run_folders(const fs::path& folder) {
  require<IoError>(fs::is_directory(folder), folder.string(), ": a folder of runs expected");
  std::vector<FoundRun> runs;
  collect(folder, name_of(folder), 0, runs);
  require<IoError>(!runs.empty(), folder.string(),
                   ": no run.json found in it or in the folders below");
  return runs;
}

}  // namespace udv::jobs
